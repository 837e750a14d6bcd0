package records

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// volumes are records of the ways in which a node reaches remote volumes. They change only while the machine is off: a
// running machine may be using them.
type volumes[T any, P node.Recorded[T]] struct{ catalog[T, P] }

// Create stores a new record of a node that exists.
func (c volumes[T, P]) Create(ctx context.Context, v T) (T, error) {
	return refused(c.catalog.Create(ctx, v))
}

// Update edits a record of a node that is off and not reserved.
func (c volumes[T, P]) Update(ctx context.Context, ref string, edit func(*T) error) (T, error) {
	return c.catalog.Update(ctx, ref, func(v *T) error {
		if err := edit(v); err != nil {
			return err
		}
		n, err := c.e.freeNamed(ctx, nodeOf(P(v).Keys()))
		if err == nil && n.PowerState != node.PowerOff {
			err = c.inUse("update", n)
		}
		return err
	})
}

// Delete removes a record of a node that is off and not reserved.
func (c volumes[T, P]) Delete(ctx context.Context, uuid string) error {
	v, err := c.Find(ctx, uuid)
	if err != nil {
		return err
	}
	n, err := c.e.Free(ctx, nodeOf(P(&v).Keys()))
	if err != nil {
		return err
	}
	if n.PowerState != node.PowerOff {
		return c.inUse("deletion", n)
	}
	return c.catalog.Delete(ctx, uuid)
}

func (c volumes[T, P]) inUse(what string, n node.Node) error {
	power := string(n.PowerState)
	if power == "" {
		power = "None"
	}
	return node.Refuse(node.InvalidState,
		"The requested action %q can not be performed on node %q while it is in state %q.", P(new(T)).Kind()+" "+what,
		n.UUID, power)
}

// nodeOf is the UUID of the node a record is of.
func nodeOf(keys []node.Key) string {
	for _, k := range keys {
		if k.Column == "node_uuid" {
			return k.Value
		}
	}
	return ""
}
