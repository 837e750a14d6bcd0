package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestHardwareReportIsKept: a BMC's report is read when its node is verified, and again after a step that changes it. A
// BMC without reports changes nothing.
func TestHardwareReportIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		id := w.ask(w.create("redfish").UUID, node.Manage, node.Manageable).UUID
		settings := func() (values []string) {
			report, err := w.e.HardwareReport(w.ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range report.BIOS {
				values = append(values, *s.Value)
			}
			return values
		}
		if diff := cmp.Diff([]string{""}, settings()); diff != "" {
			t.Errorf("after the verification (-want +got):\n%s", diff)
		}
		clean := plan.Request{
			Verb:       node.Clean,
			CleanSteps: []node.Step{{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": "on"}}},
		}
		if err := w.e.Provision(w.ctx, id, clean); err != nil {
			t.Fatal(err)
		}
		w.settled(id)
		if diff := cmp.Diff([]string{"on"}, settings()); diff != "" {
			t.Errorf("after a step (-want +got):\n%s", diff)
		}
		w.drive = func(core.BMC) core.BMC { return mum{w} }
		w.crash()
		w.start()
		if n := w.ask(id, node.Inspect, node.Manageable); n.LastError != "" {
			t.Errorf("an inspection whose BMC tells nothing ends with %q", n.LastError)
		}
		if diff := cmp.Diff([]string{"on"}, settings()); diff != "" {
			t.Errorf("after a BMC that told nothing (-want +got):\n%s", diff)
		}
	})
}

// mum is a BMC that does not report.
type mum struct{ *world }

func (mum) ReportHardware(context.Context, node.Node) (node.HardwareReport, error) {
	return node.HardwareReport{}, errSilent
}

// ill is boards that report the machine's health.
type ill struct {
	*boards
	health string
}

func (i *ill) Vitals(ctx context.Context, n node.Node) (node.Vitals, error) {
	p, err := i.PowerState(ctx, n)
	i.mu.Lock()
	defer i.mu.Unlock()
	return node.Vitals{Power: p, Health: i.health}, err
}

// Health comes with the verification and with every reading of the power, in
// the same call, and is written when it changes.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		i := &ill{boards: b, health: "OK"}
		b.drive = func(core.BMC) core.BMC { return i }
		b.start()
		defer b.close()
		n := b.managed()
		if n.Health != "OK" {
			t.Errorf("health is %q after the verification", n.Health)
		}
		time.Sleep(10 * time.Minute)
		b.wrote(0, "while all is well")
		b.set(func() { i.health = "Critical"; clear(b.reads) })
		time.Sleep(10 * time.Minute)
		b.wrote(1, "after a part has failed")
		if n = b.node(n.UUID); n.Health != "Critical" {
			t.Errorf("health is %q", n.Health)
		}
		if k := b.readings(n.UUID); k < 9 || k > 11 {
			t.Errorf("the BMC was asked %d times in ten minutes, want once a minute", k)
		}
		if diff := cmp.Diff([]string{"WARNING"}, b.monitored(n.UUID)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// A chore reserves its node, and ends in the history whether it works or not.
func TestVirtualMedia(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		id := w.create("redfish").UUID
		attach := func() error {
			return w.e.AttachMedium(w.ctx, id, node.Medium{Device: "cdrom", Image: "http://images/a.iso"})
		}
		if err := attach(); err != nil {
			t.Fatal(err)
		}
		if err := attach(); refused(t, err) != node.Locked {
			t.Errorf("a second one at once: %v", err)
		}
		w.settled(id)
		if slots, err := w.e.MediaSlots(w.ctx, id); err != nil || !slots[0].Inserted {
			t.Errorf("%+v, %v", slots, err)
		}
		w.turn(w.lost, id)
		if err := w.e.DetachMedia(w.ctx, id, nil); err != nil {
			t.Fatal(err)
		}
		if n := w.settled(id); n.Chore != "" ||
			!strings.Contains(n.LastError, "management.detach_virtual_media failed: "+errLost.Error()) {
			t.Errorf("chore %q, last error %q", n.Chore, n.LastError)
		}
		entries, err := w.e.History(w.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range entries {
			got = append(got, h.Severity+" "+h.EventType)
		}
		if diff := cmp.Diff([]string{"INFO management", "ERROR management"}, got); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}
