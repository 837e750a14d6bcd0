package core_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestPowerAmid: if a machine is switched off amid an activity, the status and the failure name the user and the time.
// The history has the request with its user.
func TestPowerAmid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Create("redfish")
		b.Push(n.UUID, node.PowerOn)
		n = b.Ask(n.UUID, node.Manage, node.Manageable)
		if err := b.E.Provision(b.Ctx, n.UUID, plan.Request{Verb: node.Inspect}); err != nil {
			t.Fatal(err)
		}
		for b.Node(n.UUID).ProvisionState != node.InspectWait {
			time.Sleep(time.Second)
		}
		ctx := engine.WithUser(b.Ctx, "alice", "")
		if err := b.E.SetPower(ctx, n.UUID, node.PowerOff, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		const said = "power off was requested by alice at "
		st, err := b.E.Status(b.Ctx, n.UUID)
		if err != nil || !strings.Contains(strings.Join(st.Warnings, " "), said) {
			t.Errorf("the status warns of %q, %v", st.Warnings, err)
		}
		if k := len(st.BootStages); k < 2 || st.BootStages[0].Detail != "" ||
			st.BootStages[k-1].Name != "power off" || st.BootStages[k-1].Detail != "by request" {
			t.Errorf("boot stages %+v: expected those before the machine went off, and the request", st.BootStages)
		}
		all, err := b.E.History(b.Ctx, n.UUID)
		if err != nil {
			t.Fatal(err)
		}
		last := all[len(all)-1]
		if last.User != "alice" || last.EventType != "power" ||
			!strings.HasPrefix(last.Event, "power off requested, while inspect waits for ") {
			t.Errorf("the history ends with %+v", last)
		}
		for b.Node(n.UUID).ProvisionState == node.InspectWait {
			time.Sleep(time.Minute)
		}
		if n := b.Node(n.UUID); n.ProvisionState != node.InspectFailed || !strings.Contains(n.LastError, said) {
			t.Errorf("%s: %s", n.ProvisionState, n.LastError)
		}
		if err := b.E.SetPower(ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		st, err = b.E.Status(b.Ctx, n.UUID)
		if k := len(st.BootStages); err != nil || k != 1 || st.BootStages[0].Detail != "by request" {
			t.Errorf("boot stages %+v, %v: expected those of the boot that was requested alone", st.BootStages, err)
		}
	})
}
