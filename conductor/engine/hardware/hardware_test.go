package hardware_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestHardwareReportIsKept: a BMC's report is read when its node is verified, and again after a step that changes it. A
// BMC without reports changes nothing.
func TestHardwareReportIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
		settings := func() (values []string) {
			report, err := w.E.HardwareReport(w.Ctx, id)
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
		if err := w.E.Provision(w.Ctx, id, clean); err != nil {
			t.Fatal(err)
		}
		w.Settled(id)
		if diff := cmp.Diff([]string{"on"}, settings()); diff != "" {
			t.Errorf("after a step (-want +got):\n%s", diff)
		}
		w.Drive = func(core.BMC) core.BMC { return mum{w} }
		w.Crash()
		w.Start()
		if n := w.Ask(id, node.Inspect, node.Manageable); n.LastError != "" {
			t.Errorf("an inspection whose BMC tells nothing ends with %q", n.LastError)
		}
		if diff := cmp.Diff([]string{"on"}, settings()); diff != "" {
			t.Errorf("after a BMC that told nothing (-want +got):\n%s", diff)
		}
	})
}

// mum is a BMC that does not report.
type mum struct{ *enginetest.World }

func (mum) ReportHardware(context.Context, node.Node) (node.HardwareReport, error) {
	return node.HardwareReport{}, enginetest.ErrSilent
}

// A chore reserves its node, and ends in the history whether it works or not.
func TestVirtualMedia(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := w.Create("redfish").UUID
		attach := func() error {
			return w.E.AttachMedium(w.Ctx, id, node.Medium{Device: "cdrom", Image: "http://images/a.iso"})
		}
		if err := attach(); err != nil {
			t.Fatal(err)
		}
		if err := attach(); enginetest.KindOf(t, err) != node.Locked {
			t.Errorf("a second one at once: %v", err)
		}
		w.Settled(id)
		if slots, err := w.E.MediaSlots(w.Ctx, id); err != nil || !slots[0].Inserted {
			t.Errorf("%+v, %v", slots, err)
		}
		w.Turn(w.Lost, id)
		if err := w.E.DetachMedia(w.Ctx, id, nil); err != nil {
			t.Fatal(err)
		}
		if n := w.Settled(id); n.Chore != "" ||
			!strings.Contains(n.LastError, "management.detach_virtual_media failed: "+enginetest.ErrLost.Error()) {
			t.Errorf("chore %q, last error %q", n.Chore, n.LastError)
		}
		entries, err := w.E.History(w.Ctx, id)
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
