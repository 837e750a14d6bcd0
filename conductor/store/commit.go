package store

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Commit writes a change. The node it returns shares its maps with the one in
// the change.
func (s *Database) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	var saved node.Node
	if c.Frees() {
		ctx = freeing(ctx)
	}
	err := s.w.do(ctx, func(t *tx) error {
		saved = node.Node{}
		return t.apply(&c, &saved)
	})
	if err != nil {
		return node.Node{}, err
	}
	return saved, nil
}

// apply writes the parts of a change in the order Store.Commit promises.
func (t *tx) apply(c *node.Change, saved *node.Node) error {
	if c.Finish != nil {
		if err := t.finish(c.Finish); err != nil {
			return err
		}
	}
	if err := t.applyNode(c, saved); err != nil {
		return err
	}
	if err := t.applyAllocation(c, saved.UUID); err != nil {
		return err
	}
	for i := range c.SavePortgroups {
		if err := t.savePortgroup(c.SavePortgroups[i]); err != nil {
			return err
		}
	}
	if err := t.applyPorts(c); err != nil {
		return err
	}
	if err := t.applyVolumes(c); err != nil {
		return err
	}
	if c.Inspected != nil {
		if err := t.putInspected(saved.UUID, c.Inspected); err != nil {
			return err
		}
	}
	if c.HardwareReport != nil {
		if err := t.putHardwareReport(saved.UUID, c.HardwareReport); err != nil {
			return err
		}
	}
	if err := t.putEraseReport(c.PutEraseReport); err != nil {
		return err
	}
	if c.Hurry {
		if err := t.hurry(saved.UUID); err != nil {
			return err
		}
	}
	for i := range c.Effects {
		if err := t.insertEffect(&c.Effects[i]); err != nil {
			return err
		}
	}
	if err := t.record(c.History); err != nil {
		return err
	}
	return t.putEvents(c.Events)
}

var (
	errAmbiguous = errors.New("a change may hold one of Insert, Save and Delete, not several")
	errOrphan    = errors.New("a change with inspection data or a hardware report must save its node")
)

func (t *tx) applyNode(c *node.Change, saved *node.Node) error {
	switch {
	case c.Insert != nil && (c.Save != nil || c.Delete != "") || c.Save != nil && c.Delete != "":
		return errAmbiguous
	case (c.Inspected != nil || c.HardwareReport != nil) && c.Insert == nil && c.Save == nil:
		return errOrphan
	case c.Insert != nil:
		*saved = *c.Insert
		saved.Revision = 1
		return t.insertNode(saved)
	case c.Save != nil:
		*saved = *c.Save
		saved.Revision++
		return t.saveNode(saved)
	case c.Delete != "":
		return t.deleteNode(c.Delete, c.DeleteAt)
	}
	return nil
}
