package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

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
