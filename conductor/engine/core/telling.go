package core

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Telling is a catalog whose writes are told as events.
type Telling[T any, P node.Recorded[T]] struct {
	node.Catalog[T]
	E *Core
}

// Insert adds a record, and tells of it.
func (c Telling[T, P]) Insert(ctx context.Context, v T) (T, error) {
	saved, err := c.Catalog.Insert(c.telling(ctx, "created", P(&v), 1), v)
	c.E.told(err)
	if err == nil {
		c.traced(ctx, "created", P(&saved))
	}
	return saved, err
}

// Save replaces a record, and tells of it.
func (c Telling[T, P]) Save(ctx context.Context, v T) (T, error) {
	saved, err := c.Catalog.Save(c.telling(ctx, "updated", P(&v), P(&v).Head().Revision+1), v)
	c.E.told(err)
	if err == nil {
		c.traced(ctx, "updated", P(&saved))
	}
	return saved, err
}

// Delete removes a record, and tells of it.
func (c Telling[T, P]) Delete(ctx context.Context, uuid string) error {
	var v T
	P(&v).Head().UUID = uuid
	err := c.Catalog.Delete(c.telling(ctx, "deleted", P(&v), 0), uuid)
	c.E.told(err)
	if err == nil {
		c.traced(ctx, "deleted", P(&v))
	}
	return err
}

// traced notes a write for the audit.
func (c Telling[T, P]) traced(ctx context.Context, what string, v P) {
	name := ""
	for _, k := range v.Keys() {
		if k.Column == "name" {
			name = k.Value
		}
	}
	traced(ctx, what, v.Kind(), v.Head().UUID, name)
}

func (c Telling[T, P]) telling(ctx context.Context, what string, v P, revision int64) context.Context {
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
	now, by := c.E.Now(), userOf(ctx)
	out := nodeapi.Event{Type: strings.ReplaceAll(v.Kind(), " ", "_") + "." + what, At: now.UTC().Format(time.RFC3339Nano),
		Conductor: c.E.ConductorName(), User: by.name, Project: by.project, Record: &record}
	doc, err := json.Marshal(out)
	if err != nil { // texts and numbers alone: it cannot be
		c.E.Log.Error("an event is not written", "record", record.UUID, "err", err)
		return ctx
	}
	return node.Telling(ctx, node.ChangeEvent{At: now, Type: out.Type, Node: of, Doc: doc})
}

// told wakes those who follow, after a write.
func (e *Core) told(err error) {
	if err == nil && e.Told != nil {
		e.Told()
	}
}
