package core

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// WithEvents has a catalog commit an event with each write, and call the listeners.
func WithEvents[T any, P node.Recorded[T]](e *Core, c node.Catalog[T]) node.Catalog[T] {
	return eventCatalog[T, P]{c, e}
}

type eventCatalog[T any, P node.Recorded[T]] struct {
	node.Catalog[T]
	e *Core
}

// Insert adds a record.
func (c eventCatalog[T, P]) Insert(ctx context.Context, v T) (T, error) {
	w := c.write(ctx, "created", P(&v), 1)
	saved, err := c.Catalog.Insert(node.WithEvents(ctx, w.Events...), v)
	c.written(ctx, w, err)
	return saved, err
}

// Save replaces a record.
func (c eventCatalog[T, P]) Save(ctx context.Context, v T) (T, error) {
	w := c.write(ctx, "updated", P(&v), P(&v).Head().Revision+1)
	saved, err := c.Catalog.Save(node.WithEvents(ctx, w.Events...), v)
	c.written(ctx, w, err)
	return saved, err
}

// Delete removes a record.
func (c eventCatalog[T, P]) Delete(ctx context.Context, uuid string) error {
	var v T
	P(&v).Head().UUID = uuid
	w := c.write(ctx, "deleted", P(&v), 0)
	err := c.Catalog.Delete(node.WithEvents(ctx, w.Events...), uuid)
	c.written(ctx, w, err)
	return err
}

func (c eventCatalog[T, P]) written(ctx context.Context, w *node.Committed, err error) {
	if err == nil {
		c.e.committed(ctx, w)
	}
}

// write is a write with its event.
func (c eventCatalog[T, P]) write(ctx context.Context, what string, v P, revision int64) *node.Committed {
	record := nodeapi.EventRecord{Kind: v.Kind(), UUID: v.Head().UUID, Revision: revision}
	of := ""
	for _, k := range v.Keys() {
		switch k.Column {
		case "name":
			record.Name = k.Value
		case "node_uuid":
			of = k.Value
		}
	}
	now, by := c.e.Now(), userOf(ctx)
	w := &node.Committed{Change: &node.Change{}, Decided: now, User: by.name, Project: by.project,
		Record: &node.RecordWritten{Kind: record.Kind, UUID: record.UUID, Name: record.Name, Written: what}}
	out := nodeapi.Event{Type: strings.ReplaceAll(v.Kind(), " ", "_") + "." + what, At: now.UTC().Format(time.RFC3339Nano),
		Conductor: c.e.ConductorName(), User: by.name, Project: by.project, Record: &record}
	doc, err := json.Marshal(out)
	if err != nil { // texts and numbers alone: it cannot be
		c.e.Log.Error("an event is not written", "record", record.UUID, "err", err)
		return w
	}
	w.Events = []node.ChangeEvent{{At: now, Type: out.Type, Node: of, Doc: doc}}
	return w
}
