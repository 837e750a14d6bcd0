package enginetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Instance is the instance_info of a tenant.
func Instance(tenant int) map[string]any {
	return map[string]any{"image_source": "http://images/os.raw", "image_checksum": NoSum, "tenant": tenant}
}

// Create makes a node with one port.
func (w *World) Create(driver string) node.Node {
	w.T.Helper()
	n, err := w.E.CreateNode(w.Ctx,
		node.Node{Driver: driver, Interfaces: map[string]string{"deploy": "direct", "inspect": "agent"},
			InstanceInfo: Instance(0)})
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := w.E.CreatePort(w.Ctx, node.Port{NodeUUID: n.UUID, Address: MACOf(n.UUID), PXEEnabled: true}); err != nil {
		w.T.Fatal(err)
	}
	return n
}

// Settled waits until a node is at rest and returns it.
func (w *World) Settled(uuid string) node.Node {
	w.T.Helper()
	for range 100_000 {
		// before the node: the other way round a step that just ended is missed
		pending, err := w.Store.PendingEffect(w.Ctx, uuid)
		if err != nil {
			w.T.Fatal(err)
		}
		n, err := w.E.Node(w.Ctx, uuid)
		if err != nil {
			w.T.Fatal(err)
		}
		w.Ledger.Overdue(n)
		switch c := n.ProvisionState.Class(); {
		case pending == nil && (c == node.Stable || c == node.Failed):
			return n
		case c == node.Held:
			w.Allow(w.E.Provision(w.Ctx, uuid, plan.Request{Verb: node.Unhold}))
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.T.Fatalf("node %s never comes to rest", uuid)
	return node.Node{}
}

// Ask requests a verb and expects where it ends.
func (w *World) Ask(uuid string, verb node.Event, want node.State) node.Node {
	w.T.Helper()
	if err := w.E.Provision(w.Ctx, uuid, plan.Request{Verb: verb}); err != nil {
		w.T.Fatalf("%s: %v", verb, err)
	}
	n := w.Settled(uuid)
	if n.ProvisionState != want {
		w.T.Fatalf("%s: node ends in %q, want %q (last_error %q)", verb, n.ProvisionState, want, n.LastError)
	}
	return n
}

// Must fails the test with an error, a refusal too.
func (w *World) Must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// Allow accepts refusals, and nothing else.
func (w *World) Allow(err error) {
	var r *node.Refusal
	if err != nil && !errors.As(err, &r) {
		w.T.Error(err)
	}
}

// KindOf returns the kind of a refusal, and ends the test for any other result.
func KindOf(t *testing.T, err error) node.Kind {
	t.Helper()
	var r *node.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("not a refusal: %v", err)
	}
	return r.Kind
}

// Waiting brings a node to clean wait with a machine that does not answer by
// itself, so that a test can play the ramdisk.
func (w *World) Waiting() node.Node {
	w.T.Helper()
	w.Start()
	n := w.Create("redfish")
	w.Ask(n.UUID, node.Manage, node.Manageable)
	if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
		w.T.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	w.Mu.Lock()
	w.Machine(n.UUID).Boot++ // the test takes the place of w.run
	w.Mu.Unlock()
	n, err := w.E.Node(w.Ctx, n.UUID)
	if err != nil || n.ProvisionState != node.CleanWait {
		w.T.Fatalf("node is %q, %v", n.ProvisionState, err)
	}
	return n
}

// TimesNoted is how often the history of a node has a text.
func (w *World) TimesNoted(uuid, text string) (times int) {
	w.T.Helper()
	all, err := w.Store.History(w.Ctx, uuid)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, e := range all {
		if strings.Contains(e.Event, text) {
			times++
		}
	}
	return times
}

// RescueRequest asks for a rescue.
var RescueRequest = plan.Request{Verb: node.RescueIt, RescuePassword: "x"}

// Servicing asks for a service of some steps.
func Servicing(names ...string) plan.Request {
	return plan.Request{Verb: node.Service, ServiceSteps: Steps(names...)}
}

// SystemA and SystemB are UUIDs of two machines, as their firmware has them.
const (
	SystemA = "4c4c4544-0043-4a10-8052-b4c04f4d3432"
	SystemB = "4c4c4544-0043-4a10-8052-b4c04f4d3433"
)

// Steps is a list of steps as a request has it: interface and name, and more
// on demand.
func Steps(names ...string) (out []node.Step) {
	for _, name := range names {
		out = append(out, node.Step{Interface: "deploy", Step: name, Priority: 85})
	}
	return out
}
