package jobs_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// endless is a BMC with a step that may be aborted and never ends by itself.
type endless struct {
	*enginetest.World
	asked atomic.Int64
}

func (e *endless) Steps(node.Node) []node.StepOffer {
	return []node.StepOffer{{Interface: "bios", Step: "burn", Priority: map[node.Framework]int{node.CleanSteps: 0},
		Abortable: true, NeedsNoRamdisk: true}}
}

func (e *endless) DoStep(context.Context, node.Node, node.Step, string) (node.StepReport, error) {
	e.asked.Add(1)
	return node.StepReport{After: time.Minute}, nil
}

// A driver's step that was aborted is not asked for again: a driver that keeps
// no task would begin anew. Its effect falls due at once, so that the node is free.
func TestAbortedDriverStepStaysAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		bmc := &endless{World: w}
		w.Drive = func(core.BMC) core.BMC { return bmc }
		w.Start()
		defer w.Close()
		id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
		burn := plan.Request{Verb: node.Clean, CleanSteps: []node.Step{{Interface: "bios", Step: "burn"}}}
		if err := w.E.Provision(w.Ctx, id, burn); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		if s, err := w.E.Status(w.Ctx, id); err != nil || time.Since(s.WaitingSince) < time.Minute ||
			s.WaitingSince.Before(s.Since) {
			t.Errorf("it waits since %s, not since it was asked first: activity since %s (%v)", s.WaitingSince, s.Since, err)
		}
		before := bmc.asked.Load()
		if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the step is asked after every minute: the node is free before
		if holder, err := w.E.Reserved(w.Ctx, id); err != nil || holder != "" {
			t.Errorf("the node is still reserved by %q (%v)", holder, err)
		}
		if n := w.Settled(id); n.ProvisionState != node.CleanFailed {
			t.Errorf("the node ends in %q", n.ProvisionState)
		}
		if after := bmc.asked.Load(); before == 0 || after != before {
			t.Errorf("the driver was asked %d times before the abort, %d times in all", before, after)
		}
	})
}

// TestStepsEndInBoundedTime: an agent or BMC that keeps in touch without finishing a step has the step's time and no
// more.
func TestStepsEndInBoundedTime(t *testing.T) {
	for name, c := range map[string]struct {
		creep float64
		step  node.Step
		tells []string
	}{
		"a BMC with news": {0, node.Step{Interface: "firmware", Step: "update"},
			[]string{"firmware.update", "20m", "--step-timeout", " polls; look into the BMC's log"}},
		"an agent that calls": {0, node.Step{Interface: "deploy", Step: "erase_devices_metadata"},
			[]string{"erase_devices_metadata", "20m", "--step-timeout", "it reported no progress"}},
		// 34 or 35: the last comes as the time ends
		"an agent with more to do": {1, node.Step{Interface: "deploy", Step: "erase_devices_metadata"},
			[]string{"erase_devices_metadata", "35m", "--step-limit", "erase_devices_metadata, sda: 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Settings.StepTimeout, w.Settings.StepLimit = 20*time.Minute, 35*time.Minute
				w.Hangs, w.Creep = 1, c.creep
				w.Start()
				defer w.Close()
				id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
				if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Clean, CleanSteps: []node.Step{c.step}}); err != nil {
					t.Fatal(err)
				}
				n := w.Settled(id)
				for _, part := range c.tells {
					if n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, part) {
						t.Errorf("the node ends in %q, expected %q in last_error: %s", n.ProvisionState, part, n.LastError)
					}
				}
			})
		})
	}
}
