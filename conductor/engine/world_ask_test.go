package engine_test

import (
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
