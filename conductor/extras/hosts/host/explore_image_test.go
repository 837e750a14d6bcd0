package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// driveModel is a host's DataImage in an exploration, and its surroundings.
type driveModel struct {
	on    bool               // the exploration has images
	image *hostapi.DataImage // nil for none
	cd    string             // the medium in the machine's drive
	asked string             // the medium that the node's chore is to insert
	deaf  bool               // the BMC does not show the medium
	late  bool               // time has passed since the image was changed
}

// driveModels are hosts at work that are about to start, with an image that was
// just applied, that is to replace another, or that was deleted: the shortest way
// to all that may happen to one.
func driveModels() (all []model) {
	for name, change := range map[string]func(*driveModel){
		"image to be put in":   func(m *driveModel) { m.apply(isoA) },
		"image to be replaced": func(m *driveModel) { m.hold(isoA) },
		"image to be taken out": func(m *driveModel) {
			m.hold(isoB)
			at := hostapi.At(testNow)
			m.image.DeletionTimestamp = &at
		},
	} {
		facts := newFacts(hostapi.StateExternallyProvisioned, node.Active, poweredOff)
		m := model{h: facts.Host, n: facts.Node, ports: facts.Ports, secret: true, moves: *exploreMoves,
			drive: driveModel{on: true}, disk: anything, trail: []string{name}}
		change(&m.drive)
		all = append(all, m)
	}
	return all
}

// hold has the image in the drive that a situation with one has.
func (m *driveModel) hold(url string) {
	facts := newFacts(hostapi.StateExternallyProvisioned, node.Active, withImage(url, attached(isoB, time.Hour)))
	m.image, m.cd, m.late = facts.DataImage, isoB, true
}

func (m *driveModel) apply(url string) {
	m.image = &hostapi.DataImage{
		ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default", UID: "i"}, Spec: hostapi.DataImageSpec{URL: url},
	}
}

// copied is the image, to be changed.
func (m *driveModel) copied() *hostapi.DataImage {
	i := *m.image
	return &i
}

// tell adds the known part of the drive to a situation.
func (m driveModel) tell(facts *Facts) {
	if m.image == nil {
		return
	}
	facts.DataImage = m.copied()
	if facts.DataImage.Status.LastReconciled != nil {
		at := hostapi.At(testNow)
		if m.late {
			at = hostapi.At(testNow.AddDate(0, 0, -1))
		}
		facts.DataImage.Status.LastReconciled = &at
	}
	if !AsksMedia(*facts) {
		return
	}
	facts.Media = &Media{Slots: []node.MediaSlot{{Types: []string{"CD"}, Inserted: m.cd != ""}}}
	if m.deaf {
		facts.Media = &Media{Fault: "no answer"}
	}
}

// key is the image without insignificant parts.
func (m driveModel) key() string {
	text := fmt.Sprint("|", m.on, m.cd, m.asked, m.deaf, m.late)
	if i := m.image; i != nil {
		text += fmt.Sprint(i.DeletionTimestamp != nil, i.Finalizers, len(i.OwnerReferences), i.Spec, i.Status.AttachedImage,
			i.Status.Error.Message, min(i.Status.Error.Count, 1), i.Status.LastReconciled != nil)
	}
	return text
}

// save takes a decision's new image; nil for no change.
func (m *driveModel) save(i *hostapi.DataImage) {
	if i == nil {
		return
	}
	if m.image == nil || i.Status != m.image.Status {
		m.late = false
	}
	if m.image = i; i.DeletionTimestamp != nil && len(i.Finalizers) == 0 {
		m.image = nil
	}
}

// orphan is the end of the host.
func (m *driveModel) orphan() {
	if m.image != nil {
		i, _ := OrphanedImage(*m.image)
		m.save(&i)
	}
}

func (m driveModel) fails() bool { return m.image != nil && m.image.Status.Error.Message != "" }

// waits: something of the image may come with time.
func (m driveModel) waits() bool {
	return m.image != nil && m.image.Status.LastReconciled != nil && !m.late
}

// choreEnds changes the drive at the end of a chore.
func (m model) choreEnds(fine bool) model {
	m = m.then("node: " + m.n.Chore)
	if fine {
		m.drive.cd = m.drive.asked
	} else {
		m.n.LastError = "management." + m.n.Chore + "_virtual_media failed: no"
	}
	m.n.Chore, m.drive.asked = "", ""
	return m
}

// allowedDisc are the invariants of images.
func (x *explorer) allowedDisc(m model, d Decision) {
	i := m.drive.image
	power, powers := d.Action.(SetPower)
	switch d.Action.(type) {
	case AttachMedium, DetachMedia:
		if m.n == nil || m.n.PowerState != node.PowerOff || !m.h.Spec.Online {
			x.complain(m, "%s while the machine is on, or is to stay off", spoken(d))
		}
		if i == nil || !slices.Contains(i.Finalizers, hostapi.DataImageFinalizer) {
			x.complain(m, "%s for an image that may vanish", spoken(d))
		}
	default:
	}
	steady := m.h.Status.Provisioning.State == hostapi.StateExternallyProvisioned
	if i == nil || !powers || power.Target != node.PowerOn || !steady || m.n.PowerState != node.PowerOff {
		return
	}
	switch {
	case m.drive.deaf:
		x.complain(m, "it starts with who knows what in its drive")
	case i.DeletionTimestamp != nil && m.drive.cd != "":
		x.complain(m, "it starts with an image that is to be out")
	case m.drive.cd == byHand && i.Status.AttachedImage.URL == i.Spec.URL: // exchanged by hand, which no BMC reports
	case i.DeletionTimestamp == nil && m.drive.cd != i.Spec.URL:
		x.complain(m, "it starts without its image")
	}
}

// moves are the interferences there are, and for hosts with an image those that an
// image may feel.
func (m driveModel) moves() []interference {
	if !m.on {
		return interferences
	}
	felt := []string{"switch", "delete", "paused", "detached", "reboot", "reboot with key", "node lost", "power lost"}
	all := slices.Clone(discMoves)
	for _, i := range interferences {
		if slices.Contains(felt, i.name) {
			all = append(all, i)
		}
	}
	return all
}

// byHand is a medium that a person puts into the drive without a trace.
const byHand = "something"

// discMoves are acts of users on images and drives, and faults of BMCs.
var discMoves = []interference{
	{"data image a", driveMove(func(m *driveModel) bool {
		if m.image != nil {
			return false
		}
		m.apply(isoA)
		return true
	})},
	{"data image b", driveMove(func(m *driveModel) bool {
		if m.image == nil || m.image.DeletionTimestamp != nil {
			return false
		}
		m.image = m.copied()
		m.image.Spec.URL = isoB
		return true
	})},
	{"data image deleted", driveMove(func(m *driveModel) bool {
		if m.image == nil || m.image.DeletionTimestamp != nil {
			return false
		}
		i, at := m.copied(), hostapi.At(testNow)
		i.DeletionTimestamp = &at
		m.save(i)
		return true
	})},
	{"ejected", driveMove(func(m *driveModel) bool { was := m.cd; m.cd = ""; return was != "" })},
	{"inserted", driveMove(func(m *driveModel) bool { was := m.cd; m.cd = byHand; return was == "" })},
	{"deaf", driveMove(func(m *driveModel) bool { m.deaf = !m.deaf; return true })},
}

func driveMove(do func(*driveModel) bool) func(*model) bool {
	return func(m *model) bool { return m.drive.on && do(&m.drive) }
}
