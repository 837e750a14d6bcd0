package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// endless is a BMC with a step that may be aborted and never ends by itself.
type endless struct {
	*world
	asked atomic.Int64
}

func (e *endless) Steps(node.Node) []node.StepOffer {
	return []node.StepOffer{{Interface: "bios", Step: "burn", Priority: map[node.Framework]int{node.CleanSteps: 0}, Abortable: true, NeedsNoRamdisk: true}}
}

func (e *endless) DoStep(context.Context, node.Node, node.Step, string) (node.StepReport, error) {
	e.asked.Add(1)
	return node.StepReport{After: time.Minute}, nil
}

// A driver's step that was aborted is not asked for again: a driver that keeps
// no task would begin anew. Its effect falls due at once, so that the node is free.
func TestAbortedDriverStepStaysAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		bmc := &endless{world: w}
		w.drive = func(engine.BMC) engine.BMC { return bmc }
		w.start()
		defer w.close()
		id := w.ask(w.create("redfish").UUID, node.Manage, node.Manageable).UUID
		burn := plan.Request{Verb: node.Clean, CleanSteps: []node.Step{{Interface: "bios", Step: "burn"}}}
		if err := w.e.Provision(w.ctx, id, burn); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		before := bmc.asked.Load()
		if err := w.e.Provision(w.ctx, id, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the step is asked after every minute: the node is free before
		if holder, err := w.e.Reserved(w.ctx, id); err != nil || holder != "" {
			t.Errorf("the node is still reserved by %q (%v)", holder, err)
		}
		if n := w.settled(id); n.ProvisionState != node.CleanFailed {
			t.Errorf("the node ends in %q", n.ProvisionState)
		}
		if after := bmc.asked.Load(); before == 0 || after != before {
			t.Errorf("the driver was asked %d times before the abort, %d times in all", before, after)
		}
	})
}
