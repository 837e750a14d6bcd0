package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestAtRevision: requests of all kinds that were decided on a revision of a node are refused once the node has
// changed.
func TestAtRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.create("redfish")
		b.push(n.UUID, node.PowerOn)
		n = b.ask(n.UUID, node.Manage, node.Manageable)
		old := node.AtRevision(b.ctx, n.Revision-1)
		none := func(*node.Node) error { return nil }
		for name, do := range map[string]func() error{
			"a verb":      func() error { return b.e.Provision(old, n.UUID, plan.Request{Verb: node.Provide}) },
			"power":       func() error { return b.e.SetPower(old, n.UUID, node.PowerOff, 0) },
			"one try":     func() error { return b.e.TryPower(old, n.UUID, node.PowerOff) },
			"an edit":     func() error { _, err := b.e.UpdateNode(old, n.UUID, none); return err },
			"maintenance": func() error { return b.e.SetMaintenance(old, n.UUID, true, "") },
			"raid":        func() error { return b.e.SetTargetRAIDConfig(old, n.UUID, nil) },
			"a medium":    func() error { return b.e.AttachMedium(old, n.UUID, node.Medium{Device: "cdrom"}) },
			"no media":    func() error { return b.e.DetachMedia(old, n.UUID, nil) },
			"a port": func() error {
				_, err := b.e.CreatePort(old, node.Port{NodeUUID: n.UUID, Address: "52:54:00:00:00:99"})
				return err
			},
			"its end": func() error { return b.e.DeleteNode(old, n.UUID) },
		} {
			var refused *node.Refusal
			if err := do(); !errors.As(err, &refused) || refused.Kind != node.Locked {
				t.Errorf("%s: %v", name, err)
			}
		}
		if is := b.node(n.UUID); is.Revision != n.Revision {
			t.Errorf("the node has changed from revision %d to %d", n.Revision, is.Revision)
		}
		if err := b.e.SetMaintenance(node.AtRevision(b.ctx, n.Revision), n.UUID, true, ""); err != nil {
			t.Errorf("at its revision: %v", err)
		}
	})
}
