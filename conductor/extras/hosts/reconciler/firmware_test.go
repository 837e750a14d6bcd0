package reconciler_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

const (
	applySettings = "bios.apply_configuration"
	updateParts   = "firmware.update"
)

// document reads a document that must exist.
func document[T any, P interface {
	*T
	hostapi.Document
}](w *world, name string) T {
	w.tb.Helper()
	d, err := objects.Get[T, P](context.Background(), w.docs, "default", name)
	w.check(err)
	return d
}

// noDocument fails if there is one.
func noDocument[T any, P interface {
	*T
	hostapi.Document
}](w *world, name string) {
	w.tb.Helper()
	if d, err := objects.Get[T, P](context.Background(), w.docs, "default", name); !errors.Is(err, objects.ErrNotFound) {
		w.tb.Errorf("is there still: %+v, %v", d, err)
	}
}

// change edits a document as people do.
func change[T any, P interface {
	*T
	hostapi.Document
}](w *world, name string, edit func(*T)) {
	w.tb.Helper()
	for {
		d := document[T, P](w, name)
		edit(&d)
		_, err := objects.Update[T, P](context.Background(), w.docs, d)
		if !errors.Is(err, objects.ErrConflict) {
			w.check(err)
			return
		}
	}
}

// speed has a host's settings ask for something; "" for nothing.
func (w *world) speed(name, value string) {
	w.tb.Helper()
	change(w, name, func(d *hostapi.HostFirmwareSettings) {
		d.Spec.Settings = map[string]hostapi.IntOrString{}
		if value != "" {
			d.Spec.Settings["Speed"] = hostapi.IntOrString{Text: value}
		}
	})
}

// settles waits until nothing more happens to a host by itself.
func (w *world) settles(name, what string, so func(hostapi.HostFirmwareSettings) bool) hostapi.HostFirmwareSettings {
	w.tb.Helper()
	w.until(name, what, func(h hostapi.Host) bool {
		d := document[hostapi.HostFirmwareSettings](w, name)
		quiet := h.Status.Provisioning.State == hostapi.StateAvailable ||
			h.Status.Provisioning.State == hostapi.StateProvisioned
		return quiet && h.Status.OperationalStatus != hostapi.StatusServicing && so(d)
	})
	time.Sleep(time.Minute)
	return document[hostapi.HostFirmwareSettings](w, name)
}

func runs(speed string) func(hostapi.HostFirmwareSettings) bool {
	return func(d hostapi.HostFirmwareSettings) bool { return d.Status.Settings["Speed"] == speed }
}

// is is the status of a condition.
func is(all []hostapi.Condition, kind string) string {
	for _, c := range all {
		if c.Type == kind {
			return c.Status + " " + c.Reason
		}
	}
	return ""
}

// TestFirmware: documents about firmware come with a host, describe its machine, have it changed, and go with it.
func TestFirmware(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", nil)
		w.apply("b", nil)
		h := w.becomes("a", hostapi.StateAvailable)
		w.becomes("b", hostapi.StateAvailable)
		d := w.settles("a", "told of", runs("Slow"))
		if len(d.OwnerReferences) != 1 || d.OwnerReferences[0].UID != h.UID ||
			is(d.Status.Conditions, hostapi.ConditionChangeDetected) != "False Success" {
			t.Errorf("owned by %v, %+v", d.OwnerReferences, d.Status.Conditions)
		}
		if again := w.settles("a", "told of", runs("Slow")); again.ResourceVersion != d.ResourceVersion {
			t.Error("what has not changed is written again")
		}
		schema := document[hostapi.FirmwareSchema](w, d.Status.FirmwareSchema.Name)
		if diff := cmp.Diff([]string{"Slow", "Fast"}, schema.Spec.Schema["Speed"].AllowableValues); diff != "" ||
			len(schema.OwnerReferences) != 2 || schema.Spec.HardwareModel != "Sky" {
			t.Errorf("the schema of both: %+v", schema)
		}
		parts := document[hostapi.HostFirmwareComponents](w, "a")
		if c := parts.Status.Components; len(c) != 1 || c[0].Component != "bios" || c[0].InitialVersion != "1.0" {
			t.Errorf("components: %+v", c)
		}

		w.speed("a", "Fast")
		d = w.settles("a", "fast", runs("Fast"))
		if got := is(d.Status.Conditions, hostapi.ConditionChangeDetected); got != "False Success" ||
			w.machines.done(applySettings) != 1 {
			t.Errorf("afterwards: %s, set %d times", got, w.machines.done(applySettings))
		}
		w.speed("a", "Turbo")
		d = w.settles("a", "refused", func(d hostapi.HostFirmwareSettings) bool {
			return is(d.Status.Conditions, hostapi.ConditionValid) == "False ConfigurationError"
		})
		if w.machines.done(applySettings) != 1 ||
			d.Status.Conditions[1].Message != `spec.settings[Speed]: "Turbo": expected one of Slow, Fast` {
			t.Errorf("of what cannot be: %+v", d.Status.Conditions)
		}
		time.Sleep(time.Hour)
		if heard := w.heard("ValidationFailed"); heard != 1 {
			t.Errorf("people were told of it %d times", heard)
		}

		_, _, err := objects.Delete[hostapi.HostFirmwareSettings](context.Background(), w.docs, "default", "a",
			objects.DeleteOptions{})
		w.check(err)
		w.until("a", "told of anew", func(hostapi.Host) bool {
			d, err := objects.Get[hostapi.HostFirmwareSettings](context.Background(), w.docs, "default", "a")
			return err == nil && runs("Fast")(d)
		})
		w.remove("a")
		w.gone("a")
		noDocument[hostapi.HostFirmwareSettings](w, "a")
		noDocument[hostapi.HostFirmwareComponents](w, "a")
		document[hostapi.FirmwareSchema](w, d.Status.FirmwareSchema.Name)
		w.remove("b")
		w.gone("b")
		noDocument[hostapi.FirmwareSchema](w, d.Status.FirmwareSchema.Name)
	})
}

// TestUpdates: an update is done once, and again when its URL is another.
func TestUpdates(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.settles("a", "told of", runs("Slow"))
		for n, url := range []string{"http://images/bios-1", "http://images/bios-2"} {
			wanted := []hostapi.FirmwareUpdate{{Component: "bios", URL: url}}
			change(w, "a", func(d *hostapi.HostFirmwareComponents) { d.Spec.Updates = wanted })
			w.settles("a", "updated", func(hostapi.HostFirmwareSettings) bool {
				st := document[hostapi.HostFirmwareComponents](w, "a").Status
				return cmp.Equal(st.Updates, wanted) && is(st.Conditions, hostapi.ConditionChangeDetected) == "False OK"
			})
			if got := w.machines.done(updateParts); got != n+1 {
				t.Errorf("updated %d times, want %d", got, n+1)
			}
		}
	})
}

// forgetful is a database that refuses, on request, to record the updates that are done.
type forgetful struct {
	database
	refuses *atomic.Bool
}

func (s forgetful) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) error {
	if s.refuses.Load() && writes[0].Kind == hostapi.KindFirmwareComponents {
		return errors.New("the disk is full")
	}
	return s.database.WriteObjects(ctx, writes, done)
}

// TestUpdateFails: an update that has failed is done again, even if that it has
// cannot be written down for a while.
func TestUpdateFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuses := &atomic.Bool{}
		w := newWorld(t, forgetful{mem.New(), refuses})
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.settles("a", "told of", runs("Slow"))
		w.machines.hold(true)
		w.machines.stiffen(true)
		change(w, "a", func(d *hostapi.HostFirmwareComponents) {
			d.Spec.Updates = []hostapi.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-1"}}
		})
		w.until("a", "begun", func(hostapi.Host) bool {
			return len(document[hostapi.HostFirmwareComponents](w, "a").Status.Updates) > 0
		})
		time.Sleep(time.Minute)
		refuses.Store(true)
		w.machines.hold(false)
		time.Sleep(10 * time.Minute)
		w.machines.stiffen(false)
		before := w.machines.done(updateParts)
		refuses.Store(false)
		w.settles("a", "updated", func(hostapi.HostFirmwareSettings) bool { return w.host("a").Status.ErrorType == "" })
		if w.machines.done(updateParts) == before {
			t.Errorf("an update that has failed is said to be done: %+v",
				document[hostapi.HostFirmwareComponents](w, "a").Status)
		}
	})
}

// TestUpdateTriedAgain: a failed update is tried again after its pause, and not after two of them.
func TestUpdateTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.settles("a", "told of", runs("Slow"))
		w.machines.stiffen(true)
		change(w, "a", func(d *hostapi.HostFirmwareComponents) {
			d.Spec.Updates = []hostapi.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-1"}}
		})
		w.fails("a", hostapi.PreparationError)
		failed := time.Now()
		w.until("a", "failing again", func(h hostapi.Host) bool { return h.Status.ErrorCount == 2 })
		if took, most := time.Since(failed), 2*time.Minute+time.Second; took > most {
			t.Errorf("tried again after %s, want at most %s", took, most)
		}
	})
}

// TestFirmwareFirst: wishes from before the host existed are carried out before its image is written.
func TestFirmwareFirst(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		meta := hostapi.ObjectMeta{Name: "a", Namespace: "default"}
		_, err := objects.Create(context.Background(), w.docs, hostapi.HostFirmwareSettings{
			ObjectMeta: meta,
			Spec:       hostapi.HostFirmwareSettingsSpec{Settings: map[string]hostapi.IntOrString{"Speed": {Text: "Fast"}}},
		})
		w.check(err)
		_, err = objects.Create(context.Background(), w.docs, hostapi.HostUpdatePolicy{ObjectMeta: meta})
		w.check(err)
		h := w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		d := document[hostapi.HostFirmwareSettings](w, "a")
		if !runs("Fast")(d) || w.machines.done(applySettings) != 1 || d.OwnerReferences[0].UID != h.UID {
			t.Errorf("provisioned with %+v", d.Status)
		}
		if p := document[hostapi.HostUpdatePolicy](w, "a"); len(p.OwnerReferences) != 1 {
			t.Error("the policy does not go with the host")
		}
	})
}

// TestServicing: the firmware of a machine at work is changed in the middle of a
// reboot, where a policy says so, and otherwise not.
func TestServicing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
		w.speed("a", "Fast")
		reboot := func() {
			w.edit("a", annotate(hostapi.AnnotationReboot, ""))
			w.until("a", "rebooted", func(h hostapi.Host) bool {
				_, asked := h.Annotations[hostapi.AnnotationReboot]
				return !asked && h.Status.PoweredOn && h.Status.OperationalStatus == hostapi.StatusOK
			})
		}
		reboot()
		if d := w.settles("a", "as it was", runs("Slow")); is(d.Status.Conditions,
			hostapi.ConditionChangeDetected) != "True Success" {
			t.Errorf("what is wanted is not told: %+v", d.Status.Conditions)
		}
		_, err := objects.Create(context.Background(), w.docs, hostapi.HostUpdatePolicy{
			ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default"},
			Spec:       hostapi.HostUpdatePolicySpec{FirmwareSettings: hostapi.OnReboot},
		})
		w.check(err)
		w.settles("a", "as it was", runs("Slow"))
		if w.machines.done(applySettings) != 0 {
			t.Fatal("a machine at work was interrupted")
		}
		reboot()
		w.settles("a", "fast", runs("Fast"))
		if n := w.node("a"); n.ProvisionState != node.Active || w.machines.done(applySettings) != 1 {
			t.Errorf("afterwards the node is %s, and was set up %d times", n.ProvisionState, w.machines.done(applySettings))
		}
	})
}

// TestServicingFails: a service that fails is tried again, and ends when its wish is withdrawn.
func TestServicingFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.machines.rigid = true
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
		_, err := objects.Create(context.Background(), w.docs, hostapi.HostUpdatePolicy{
			ObjectMeta: hostapi.ObjectMeta{Name: "a", Namespace: "default"},
			Spec:       hostapi.HostUpdatePolicySpec{FirmwareSettings: hostapi.OnReboot},
		})
		w.check(err)
		w.speed("a", "Fast")
		w.edit("a", annotate(hostapi.AnnotationReboot, ""))
		w.fails("a", hostapi.ServicingError)
		w.until("a", "tried again", func(h hostapi.Host) bool { return h.Status.ErrorCount >= 2 })
		if n := w.node("a"); n.ProvisionState != node.ServiceFailed {
			t.Errorf("the node is %s", n.ProvisionState)
		}
		w.speed("a", "")
		h := w.until("a", "let be", func(h hostapi.Host) bool {
			return h.Status.OperationalStatus == hostapi.StatusOK && h.Status.PoweredOn && h.Status.ErrorCount == 0
		})
		if n := w.node("a"); n.ProvisionState != node.Active || h.Status.Provisioning.State != hostapi.StateProvisioned {
			t.Errorf("the node is %s of a host that is %s", n.ProvisionState, h.Status.Provisioning.State)
		}
	})
}
