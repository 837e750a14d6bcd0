package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// create makes a node with one port.
func (w *world) create(driver string) node.Node {
	w.t.Helper()
	n, err := w.e.CreateNode(w.ctx,
		node.Node{Driver: driver, Interfaces: map[string]string{"deploy": "direct", "inspect": "agent"},
			InstanceInfo: map[string]any{"image_source": "http://images/os.raw", "image_checksum": noSum, "tenant": 0}})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.e.CreatePort(w.ctx, node.Port{NodeUUID: n.UUID, Address: macOf(n.UUID), PXEEnabled: true}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// settled waits until a node is at rest and returns it.
func (w *world) settled(uuid string) node.Node {
	w.t.Helper()
	for range 100_000 {
		// before the node: the other way round a step that just ended is missed
		pending, err := w.store.PendingEffect(w.ctx, uuid)
		if err != nil {
			w.t.Fatal(err)
		}
		n, err := w.e.Node(w.ctx, uuid)
		if err != nil {
			w.t.Fatal(err)
		}
		w.ledger.overdue(n)
		switch c := n.ProvisionState.Class(); {
		case pending == nil && (c == node.Stable || c == node.Failed):
			return n
		case c == node.Held:
			w.allow(w.e.Provision(w.ctx, uuid, plan.Request{Verb: node.Unhold}))
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.t.Fatalf("node %s never comes to rest", uuid)
	return node.Node{}
}

// ask requests a verb and expects where it ends.
func (w *world) ask(uuid string, verb node.Event, want node.State) node.Node {
	w.t.Helper()
	if err := w.e.Provision(w.ctx, uuid, plan.Request{Verb: verb}); err != nil {
		w.t.Fatalf("%s: %v", verb, err)
	}
	n := w.settled(uuid)
	if n.ProvisionState != want {
		w.t.Fatalf("%s: node ends in %q, want %q (last_error %q)", verb, n.ProvisionState, want, n.LastError)
	}
	return n
}

// must fails the test with an error, a refusal too.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// allow accepts refusals, and nothing else.
func (w *world) allow(err error) {
	var r *node.Refusal
	if err != nil && !errors.As(err, &r) {
		w.t.Error(err)
	}
}

func refused(t *testing.T, err error) node.Kind {
	t.Helper()
	var r *node.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("not a refusal: %v", err)
	}
	return r.Kind
}

// waiting brings a node to clean wait with a machine that does not answer by
// itself, so that a test can play the ramdisk.
func waiting(t *testing.T, w *world) node.Node {
	t.Helper()
	w.start()
	n := w.create("redfish")
	w.ask(n.UUID, node.Manage, node.Manageable)
	if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	w.mu.Lock()
	w.of(n.UUID).boot++ // the test takes the place of w.run
	w.mu.Unlock()
	n, err := w.e.Node(w.ctx, n.UUID)
	if err != nil || n.ProvisionState != node.CleanWait {
		t.Fatalf("node is %q, %v", n.ProvisionState, err)
	}
	return n
}

// told is how often the history of a node has a text.
func told(t *testing.T, w *world, uuid, text string) (times int) {
	t.Helper()
	all, err := w.store.History(w.ctx, uuid)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if strings.Contains(e.Event, text) {
			times++
		}
	}
	return times
}

var rescueRequest = plan.Request{Verb: node.RescueIt, RescuePassword: "x"}

func servicing(names ...string) plan.Request {
	return plan.Request{Verb: node.Service, ServiceSteps: steps(names...)}
}

const systemA, systemB = "4c4c4544-0043-4a10-8052-b4c04f4d3432", "4c4c4544-0043-4a10-8052-b4c04f4d3433"

// steps is a list of steps as a request has it: interface and name, and more
// on demand.
func steps(names ...string) (out []node.Step) {
	for _, name := range names {
		out = append(out, node.Step{Interface: "deploy", Step: name, Priority: 85})
	}
	return out
}
