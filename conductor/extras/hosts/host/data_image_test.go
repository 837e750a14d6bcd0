package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

const isoA, isoB = "http://images/a.iso", "http://images/b.iso"

// withImage is a host that has a DataImage, held and its own, and an empty drive
// that it was asked about.
func withImage(url string, changes ...func(*hostapi.DataImage)) edit {
	return func(facts *Facts) {
		facts.DataImage = &hostapi.DataImage{
			ObjectMeta: hostapi.ObjectMeta{
				Name: facts.Host.Name, Namespace: facts.Host.Namespace, UID: "i", Finalizers: []string{hostapi.DataImageFinalizer},
				OwnerReferences: []hostapi.OwnerReference{{APIVersion: hostapi.APIVersion, Kind: hostapi.KindHost,
					Name: facts.Host.Name, UID: facts.Host.UID}},
			},
			Spec: hostapi.DataImageSpec{URL: url},
		}
		for _, change := range changes {
			change(facts.DataImage)
		}
		facts.Media = &Media{Slots: drives("CD", "DVD")}
	}
}

func drives(types ...string) []node.MediaSlot {
	return []node.MediaSlot{{Types: []string{"USBStick"}, Inserted: true}, {Types: types}}
}

// The changes of an image, and of the drive, in one case.

func imageLeaves(i *hostapi.DataImage) {
	at := hostapi.At(testNow.Add(-time.Minute))
	i.DeletionTimestamp = &at
}
func unheld(i *hostapi.DataImage)  { i.Finalizers = nil }
func unowned(i *hostapi.DataImage) { i.OwnerReferences = nil }

func attached(url string, ago time.Duration) func(*hostapi.DataImage) {
	return func(i *hostapi.DataImage) {
		at := hostapi.At(testNow.Add(-ago))
		i.Status.AttachedImage.URL, i.Status.LastReconciled = url, &at
	}
}

func imageFailed(count int, message string, ago time.Duration) func(*hostapi.DataImage) {
	return func(i *hostapi.DataImage) {
		at := hostapi.At(testNow.Add(-ago))
		i.Status.Error, i.Status.LastReconciled = hostapi.DataImageError{Count: count, Message: message}, &at
	}
}

func registeredAnew(facts *Facts) { facts.Host.Status.Provisioning.ID = "lost" }

func inserted(facts *Facts) { facts.Media.Slots[1].Inserted = true }
func unasked(facts *Facts)  { facts.Media = nil }
func noDrive(facts *Facts)  { facts.Media = &Media{Slots: drives("Floppy")} }
func dead(facts *Facts)     { facts.Media = &Media{Fault: "no answer"} }
func choring(facts *Facts)  { facts.Media, facts.Node.Chore = nil, "management.attach_virtual_media" }

// imageSpoken is a decision about an image, in a line: the attached URL, the failure, and whether it is held.
func imageSpoken(facts Facts, d Decision) string {
	i := d.DataImage
	if i == nil {
		return "as before"
	}
	var parts []string
	if i.Status.AttachedImage != facts.DataImage.Status.AttachedImage {
		parts = append(parts, fmt.Sprintf("attached %q", i.Status.AttachedImage.URL))
	}
	if i.Status.Error != facts.DataImage.Status.Error {
		parts = append(parts, fmt.Sprintf("error %d %q", i.Status.Error.Count, i.Status.Error.Message))
	}
	if was := slices.Contains(facts.DataImage.Finalizers, hostapi.DataImageFinalizer); was != slices.Contains(i.Finalizers,
		hostapi.DataImageFinalizer) {
		parts = append(parts, map[bool]string{true: "let go", false: "held"}[was])
	}
	if len(i.OwnerReferences) != len(facts.DataImage.OwnerReferences) {
		parts = append(parts, "owned")
	}
	return strings.Join(parts, ", ")
}

// TestDataImage has the decision about an image in each state of its machine, its drive and itself: the action, and the
// document's status.
func TestDataImage(t *testing.T) {
	available, provisioned, external, registering := hostapi.StateAvailable, hostapi.StateProvisioned,
		hostapi.StateExternallyProvisioned, hostapi.StateRegistering
	attachFailed := lastError("management.attach_virtual_media failed: no such image")
	detachFailed := lastError("management.detach_virtual_media failed: locked")
	for _, c := range []struct {
		state hostapi.State
		is    node.State
		with  []edit
		does  string
		tells string
	}{
		// It is held and owned at once, in every state of its host.
		{registering, node.Verifying, []edit{withImage(isoA, unheld, unowned), unasked}, "OK", "held, owned"},
		{hostapi.StateUnmanaged, "", []edit{withImage(isoA, unheld, unowned), unasked}, "discovered", "held, owned"},
		{hostapi.StateUnmanaged, "", []edit{withImage(isoA, imageLeaves, attached(isoA, time.Hour)), unasked},
			"discovered", "let go"},
		{provisioned, node.Active, []edit{withImage(isoA, unheld), poweredOff}, "OK", "held"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationPaused, ""), withImage(isoA, unheld), unasked}, "OK",
			"as before"},

		// It goes in on the way from off to on, and then the machine starts.
		{provisioned, node.Active, []edit{withImage(isoA)}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA), annotate(hostapi.AnnotationReboot, "")}, "soft power off 3m0s",
			"as before"},
		{provisioned, node.Active, []edit{withImage(isoA), poweredOff}, "attach " + isoA, `attached "` + isoA + `"`},
		{external, node.Active, []edit{withImage(isoA), poweredOff}, "attach " + isoA, `attached "` + isoA + `"`},
		{provisioned, node.Active, []edit{withImage(isoA), poweredOff, offline}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA), poweredOff, annotate(hostapi.AnnotationReboot+"/key", "")},
			"attach " + isoA, `attached "` + isoA + `"`},
		{available, node.Manageable, []edit{withImage(isoA), poweredOff}, "power on", "as before"},
		{provisioned, node.ServiceWait, []edit{withImage(isoA), poweredOff, unasked}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, 0)), poweredOff, choring}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, 0)), poweredOff}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, 0)), poweredOff, inserted}, "power on", "as before"},
		{provisioned, node.Active,
			[]edit{withImage(isoA, imageFailed(2, "", 0), func(i *hostapi.DataImage) { i.Status.AttachedImage.URL = isoA }),
				poweredOff, inserted}, "power on", `error 0 ""`},

		// It is unknown whether the former node has inserted it.
		{provisioned, node.Active, []edit{registeredAnew, withImage(isoA, attached(isoA, time.Hour)), inserted}, "OK",
			`attached ""`},
		{provisioned, node.Active, []edit{registeredAnew, withImage(isoA, attached(isoA, time.Hour)), inserted, poweredOff},
			"attach " + isoA, ""},

		// Another one takes its place.
		{provisioned, node.Active, []edit{withImage(isoB, attached(isoA, time.Hour)), inserted}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoB, attached(isoA, time.Hour)), inserted, poweredOff}, "OK",
			`attached ""`},
		{provisioned, node.Active, []edit{withImage(isoB), inserted, poweredOff}, "attach " + isoB,
			`attached "` + isoB + `"`},
		{provisioned, node.Active, []edit{withImage(isoA), inserted, poweredOff}, "attach " + isoA,
			`attached "` + isoA + `"`},

		// A failure is reported, and tried again when its time has come: the machine waits.
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, 0)), poweredOff, attachFailed}, "OK",
			`attached "", error 1 "attach ` + isoA + `: management.attach_virtual_media failed: no such image"`},
		{provisioned, node.Active, []edit{withImage(isoB, attached(isoA, 0)), poweredOff, attachFailed}, "OK",
			`attached "", error 1 "attach ` + isoA + `: management.attach_virtual_media failed: no such image"`},
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, time.Minute)), poweredOff}, "OK",
			`attached "", error 1 "attach ` + isoA + `: the BMC has taken the image, and its drive is empty"`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "attach "+isoA+": no", time.Second)), poweredOff,
			attachFailed}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "attach "+isoA+": no", 3*time.Minute)), poweredOff,
			attachFailed}, "attach " + isoA, `attached "` + isoA + `", error 1 ""`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "attach "+isoA+": no", -time.Hour)), poweredOff},
			"attach " + isoA, `attached "` + isoA + `", error 1 ""`},
		{provisioned, node.Active, []edit{withImage(isoB, imageFailed(9, "attach "+isoA+": no", time.Second)), poweredOff,
			attachFailed}, "attach " + isoB, `attached "` + isoB + `", error 9 ""`},
		{provisioned, node.Active,
			[]edit{withImage("http://me:word@images/a.iso", attached("http://me:word@images/a.iso", time.Minute)), poweredOff},
			"OK",
			`attached "", error 1 "attach http://******@images/a.iso: the BMC has taken the image, and its drive is empty"`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(3, "attach "+isoA+": no", time.Second)), poweredOff,
			offline}, "OK", `error 0 ""`},

		// A BMC that does not answer is asked again, and the machine waits for it. A machine without a drive does not
		// wait.
		{provisioned, node.Active, []edit{withImage(isoA), dead}, "OK", `error 1 "no answer"`},
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, time.Hour)), dead, poweredOff}, "OK",
			`error 1 "no answer"`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "no answer", time.Second)), dead, poweredOff}, "OK",
			"as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "no answer", 3*time.Minute)), dead, poweredOff},
			"OK", `error 2 "no answer"`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "no answer", time.Second)), poweredOff},
			"attach " + isoA, `attached "` + isoA + `", error 1 ""`},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "no answer", time.Second)), dead,
			annotate(hostapi.AnnotationReboot, "")}, "soft power off 3m0s", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageFailed(1, "no answer", time.Second))}, "OK", `error 0 ""`},
		{provisioned, node.Active, []edit{withImage(isoA), noDrive, poweredOff}, "power on",
			`error 1 "the BMC at redfish://10.0.0.1/redfish/v1/Systems/1 has no virtual drive for a CD or DVD that this conductor can use"`},
		{available, node.Available, []edit{withImage(isoA), func(facts *Facts) { facts.Media = &Media{} }}, "OK",
			`error 1 "the BMC at redfish://10.0.0.1/redfish/v1/Systems/1 has no virtual drive for a CD or DVD that this conductor can use"`},

		// It was removed by hand: it is inserted again at the next reboot.
		{provisioned, node.Active, []edit{withImage(isoA, attached(isoA, time.Hour))}, "OK", `attached ""`},

		// A deleted one is let go when it is out of the drive.
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Hour)), inserted}, "OK",
			"as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Hour)), inserted, poweredOff},
			"detach [cdrom]", ""},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, 0)), inserted, poweredOff, choring},
			"OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Second)), inserted, poweredOff},
			"OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Second)), inserted, poweredOff,
			detachFailed}, "OK",
			`error 1 "detach ` + isoA + `: management.detach_virtual_media failed: locked"`},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, imageFailed(1, "detach "+isoA+": no", time.Second)),
			inserted, poweredOff, detachFailed}, "OK", "as before"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, imageFailed(1, "detach "+isoA+": no", 3*time.Minute)),
			inserted, poweredOff, detachFailed}, "detach [cdrom]", `error 1 ""`},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, imageFailed(5, "attach "+isoA+": no", time.Second)),
			inserted, poweredOff}, "detach [cdrom]", `error 5 ""`},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, 0)), poweredOff}, "power on", "let go"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves), noDrive}, "OK", "let go"},
		{provisioned, node.Active, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Hour)), dead, poweredOff}, "OK",
			`error 1 "no answer"`},
		{hostapi.StateUnmanaged, "", []edit{withImage(isoA, imageLeaves), unasked}, "discovered", "let go"},
		{registering, node.Enroll, []edit{withImage(isoA, imageLeaves), unasked}, "manage", "let go"},
		{registering, node.Enroll, []edit{withImage(isoA, imageLeaves, attached(isoA, time.Hour)), unasked}, "manage",
			"as before"},
		{provisioned, node.Active,
			[]edit{annotate(hostapi.AnnotationDetached, ""), withImage(isoA, imageLeaves, attached(isoA, time.Hour)), unasked},
			"maintenance true", "let go"},
		{provisioned, node.Active, []edit{annotate(hostapi.AnnotationDetached, ""), withImage(isoA), unasked},
			"maintenance true", "as before"},
	} {
		facts := newFacts(c.state, c.is, c.with...)
		d := made(t, facts)
		if got := spoken(d); got != c.does {
			t.Errorf("%s, %s, %s: it does %s, want %s", c.state, c.is, imageOf(facts), got, c.does)
		}
		if got := imageSpoken(facts, d); got != c.tells {
			t.Errorf("%s, %s, %s: it tells %s, want %s", c.state, c.is, imageOf(facts), got, c.tells)
		}
		if _, paused := facts.Host.Annotations[hostapi.AnnotationPaused]; !paused && d.RequeueAt.IsZero() {
			t.Errorf("%s, %s, %s: it is never looked at again", c.state, c.is, imageOf(facts))
		}
	}
}

func imageOf(facts Facts) string {
	return fmt.Sprintf("%s %+v, media %+v", facts.DataImage.Spec.URL, facts.DataImage.Status, facts.Media)
}

// TestDataImageRefused: a refusal of the engine becomes an error of the image, not of its host.
func TestDataImageRefused(t *testing.T) {
	facts := newFacts(hostapi.StateProvisioned, node.Active, withImage(isoA), poweredOff)
	d := Refused(facts, Decide(facts), "not now")
	if got, want := imageSpoken(facts, d), `error 1 "attach `+isoA+`: not now"`; got != want ||
		d.Host.Status.ErrorType != "" {
		t.Errorf("got %s, want %s; host %q", got, want, d.Host.Status.ErrorType)
	}
	if wait := d.RequeueAt.Sub(testNow); wait < 30*time.Second || wait > 2*time.Minute {
		t.Errorf("it is tried again after %s", wait)
	}
	facts = newFacts(hostapi.StateProvisioned, node.Active, withImage(isoA, imageLeaves), inserted, poweredOff)
	d = Refused(facts, Decide(facts), "not now")
	if got, want := imageSpoken(facts, d), `error 1 "detach `+isoA+`: not now"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAsksMedia: a BMC is asked when it matters, and when it can answer.
func TestAsksMedia(t *testing.T) {
	for name, c := range map[string]struct {
		state hostapi.State
		is    node.State
		with  []edit
		want  bool
	}{
		"at work":  {hostapi.StateProvisioned, node.Active, []edit{withImage(isoA)}, true},
		"free":     {hostapi.StateAvailable, node.Available, []edit{withImage(isoA)}, true},
		"no image": {hostapi.StateProvisioned, node.Active, nil, false},
		"no node":  {hostapi.StateProvisioned, "", []edit{noNode, withImage(isoA)}, false},
		"paused": {
			hostapi.StateProvisioned, node.Active, []edit{withImage(isoA), annotate(hostapi.AnnotationPaused, "")}, false,
		},
		"detached": {
			hostapi.StateProvisioned, node.Active, []edit{withImage(isoA), annotate(hostapi.AnnotationDetached, "")}, false,
		},
		"a chore": {hostapi.StateProvisioned, node.Active, []edit{withImage(isoA), choring}, false},
		"a power change": {
			hostapi.StateProvisioned, node.Active,
			[]edit{withImage(isoA), nodeIs(func(n *node.Node) { n.TargetPowerState = node.PowerOn })}, false,
		},
		"node at work":        {hostapi.StateProvisioned, node.Adopting, []edit{withImage(isoA)}, false},
		"not verified":        {hostapi.StateProvisioned, node.Enroll, []edit{withImage(isoA)}, false},
		"preparing":           {hostapi.StatePreparing, node.Manageable, []edit{withImage(isoA)}, false},
		"preparing, deleted":  {hostapi.StatePreparing, node.Manageable, []edit{withImage(isoA, imageLeaves)}, true},
		"in cleaning,deleted": {hostapi.StatePreparing, node.CleanWait, []edit{withImage(isoA, imageLeaves)}, false},
	} {
		if got := AsksMedia(newFacts(c.state, c.is, c.with...)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDataImageOwner: the image of a host that was created anew belongs to the new host.
func TestDataImageOwner(t *testing.T) {
	facts := newFacts(hostapi.StateProvisioned, node.Active, withImage(isoA))
	other := hostapi.OwnerReference{APIVersion: "v1", Kind: "Rack", Name: "a", UID: "r"}
	facts.DataImage.OwnerReferences[0].UID = "earlier"
	facts.DataImage.OwnerReferences = append(facts.DataImage.OwnerReferences, other)
	want := []hostapi.OwnerReference{
		{APIVersion: hostapi.APIVersion, Kind: hostapi.KindHost, Name: "a", UID: testUID}, other,
	}
	if diff := cmp.Diff(want, made(t, facts).DataImage.OwnerReferences); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if facts.DataImage.OwnerReferences[0].UID != "earlier" {
		t.Error("the situation was changed")
	}
}

// TestOrphanedImage: an image without a host is released.
func TestOrphanedImage(t *testing.T) {
	facts := newFacts(hostapi.StateProvisioned, node.Active, withImage(isoA))
	facts.DataImage.Finalizers = append(facts.DataImage.Finalizers, "somebody/else")
	i, changed := OrphanedImage(*facts.DataImage)
	if diff := cmp.Diff([]string{"somebody/else"}, i.Finalizers); diff != "" || !changed {
		t.Errorf("changed %v (-want +got):\n%s", changed, diff)
	}
	if _, changed := OrphanedImage(i); changed {
		t.Error("it is changed once more")
	}
}
