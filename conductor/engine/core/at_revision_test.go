package core_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestAtRevision: requests of all kinds that were decided on a revision of a node are refused once the node has
// changed.
func TestAtRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Create("redfish")
		b.Push(n.UUID, node.PowerOn)
		n = b.Ask(n.UUID, node.Manage, node.Manageable)
		old := node.AtRevision(b.Ctx, n.Revision-1)
		none := func(*node.Node) error { return nil }
		for name, do := range map[string]func() error{
			"a verb":      func() error { return b.E.Provision(old, n.UUID, plan.Request{Verb: node.Provide}) },
			"power":       func() error { return b.E.SetPower(old, n.UUID, node.PowerOff, 0) },
			"one try":     func() error { return b.E.TryPower(old, n.UUID, node.PowerOff) },
			"an edit":     func() error { _, err := b.E.UpdateNode(old, n.UUID, none); return err },
			"maintenance": func() error { return b.E.SetMaintenance(old, n.UUID, true, "") },
			"raid":        func() error { return b.E.SetTargetRAIDConfig(old, n.UUID, nil) },
			"a medium":    func() error { return b.E.AttachMedium(old, n.UUID, node.Medium{Device: "cdrom"}) },
			"no media":    func() error { return b.E.DetachMedia(old, n.UUID, nil) },
			"a port": func() error {
				_, err := b.E.CreatePort(old, node.Port{NodeUUID: n.UUID, Address: "52:54:00:00:00:99"})
				return err
			},
			"its end": func() error { return b.E.DeleteNode(old, n.UUID) },
		} {
			var refused *node.Refusal
			if err := do(); !errors.As(err, &refused) || refused.Kind != node.Locked {
				t.Errorf("%s: %v", name, err)
			}
		}
		if is := b.Node(n.UUID); is.Revision != n.Revision {
			t.Errorf("the node has changed from revision %d to %d", n.Revision, is.Revision)
		}
		if err := b.E.SetMaintenance(node.AtRevision(b.Ctx, n.Revision), n.UUID, true, ""); err != nil {
			t.Errorf("at its revision: %v", err)
		}
	})
}
