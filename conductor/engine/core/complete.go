package core

import (
	"context"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// complete fills in the values that pure code cannot produce (identifiers, users, signatures), and the event of the
// change.
func (e *Core) complete(ctx context.Context, c *node.Change) error {
	c.Events = nil // of a try before
	for i := range c.History {
		by := userOf(ctx)
		c.History[i].UUID, c.History[i].User, c.History[i].Project = uuid.NewString(), by.name, by.project
	}
	for i := range c.AddPorts {
		if c.AddPorts[i].UUID == "" {
			c.AddPorts[i].UUID = uuid.NewString()
		}
	}
	now := e.Now()
	if c.Save != nil {
		c.Save.UpdatedAt = &now
	}
	if a := c.PutAllocation; a != nil && a.Revision > 0 {
		a.UpdatedAt = &now
	}
	if c.PutEraseReport != nil {
		if err := e.signEraseReport(c.PutEraseReport, now); err != nil {
			return err
		}
	}
	if event, ok := e.changeEvent(ctx, c, now); ok {
		c.Events = append(c.Events, event)
	}
	return nil
}
