package objects

import (
	"context"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Changed is the change of one document by a write. Old is nil for a new document, New is nil for a deleted one. Both
// are read-only, and Secrets are in clear.
type Changed struct {
	Key
	UID      string
	Old, New hostapi.Document
}

// Witness learns of writes.
type Witness interface {
	// Writing is called before a write. The store commits the events that Writing adds to the context together with the
	// write.
	Writing(ctx context.Context, all []Changed) context.Context
	// Written is called when a write is safe.
	Written(ctx context.Context, all []Changed)
}

// noWitness ignores all writes.
type noWitness struct{}

func (noWitness) Writing(ctx context.Context, _ []Changed) context.Context { return ctx }

func (noWitness) Written(context.Context, []Changed) {}

// changed is a change in the form for witnesses.
func (c *change) changed() Changed {
	if c.new == nil {
		return Changed{c.row.Key, c.row.UID, c.old, nil}
	}
	return Changed{keyOf(c.new), c.new.Meta().UID, c.old, c.new}
}
