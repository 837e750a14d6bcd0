package apitest

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Settle waits until no conductor works on a node, and returns it. It reads the reservation first: a node read before
// it could be in the middle of a change.
func (c *Conductor) Settle(ref string) node.Node {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		n, err := c.Engine.Node(context.Background(), ref)
		if err != nil {
			c.t.Fatal(err)
		}
		held, err := c.Engine.Reserved(context.Background(), n.UUID)
		if err != nil {
			c.t.Fatal(err)
		}
		if held != "" {
			continue
		}
		if n, err = c.Engine.Node(context.Background(), ref); err != nil {
			c.t.Fatal(err)
		}
		if n.ProvisionState.Class() != node.Working {
			return n
		}
	}
	c.t.Fatalf("node %s is still at work", ref)
	return node.Node{}
}

// Allocated waits until an allocation has a node, or none, and returns it.
func (c *Conductor) Allocated(ref string) node.Allocation {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		a, err := c.Engine.Catalogs().Allocations.Find(context.Background(), ref)
		if err != nil {
			c.t.Fatal(err)
		}
		if a.State != node.Allocating {
			return a
		}
	}
	c.t.Fatalf("allocation %s still has no node", ref)
	return node.Allocation{}
}
