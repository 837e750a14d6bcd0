package api

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// importRecord takes over a record that belongs to no node. A record with the same UUID but other values is replaced
// only when the importer overwrites: such records do not store their origin.
func importRecord[T any, P node.Recorded[T]](c *rest.Call, body rest.Args, o node.ImportRequest, member string,
	fields *rest.Table[T], kept engine.Catalog[T]) (node.ImportResult, error) {
	var there T
	if err := readOne(fields, body[member], &there, nil); err != nil {
		return node.ImportResult{}, err
	}
	head := P(&there).Head()
	done := node.ImportResult{Outcome: node.ImportCreated, UUID: head.UUID}
	if head.UUID == "" {
		return done, rest.BadRequest("Schema error for %s: 'uuid' is a required property", member)
	}
	if err := P(&there).Check(); err != nil {
		return done, err
	}
	ctx := c.Request().Context()
	here, err := kept.Find(ctx, head.UUID)
	if errors.Is(err, node.ErrNotFound) {
		if err := freeKeys[T, P](c, kept, &there); err != nil || o.DryRun {
			return done, err
		}
		_, err := kept.Create(ctx, there)
		return done, err
	}
	if err != nil {
		return done, err
	}
	d := node.Difference{Item: member, Here: shownRecord[T, P](here), There: shownRecord[T, P](there)}
	*P(&there).Head() = *P(&here).Head()
	switch {
	case reflect.DeepEqual(plainRecord(here), plainRecord(there)):
		done.Outcome = node.ImportUnchanged
		return done, nil
	case !o.Overwrite:
		done.Outcome, done.Conflicts = node.ImportConflict, []node.Difference{d}
		return done, nil
	}
	done.Outcome, done.Changes = node.ImportChanged, []node.Difference{d}
	if o.DryRun {
		return done, nil
	}
	_, err = kept.Update(ctx, head.UUID, func(of *T) error { *of = there; return nil })
	return done, err
}

// freeKeys refuses a name that another record has.
func freeKeys[T any, P node.Recorded[T]](c *rest.Call, kept engine.Catalog[T], v P) error {
	for _, k := range v.Keys() {
		if k.Column != "name" || k.Value == "" {
			continue
		}
		if _, err := kept.Find(c.Request().Context(), k.Value); err == nil {
			return node.Refuse(node.Conflict, "%s", k.Taken)
		}
	}
	return nil
}

// plainRecord is a record as JSON, decoded.
func plainRecord(v any) any {
	raw, err := json.Marshal(v)
	var out any
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// shownRecord is a record without its secrets and its head.
func shownRecord[T any, P node.Recorded[T]](v T) any {
	*P(&v).Head() = node.Record{UUID: P(&v).Head().UUID}
	return nodeapi.MaskInstance(map[string]any{"v": plainRecord(v)})["v"]
}

// plainTargets is the table of volume targets for callers that may see everything.
func plainTargets() *rest.Table[node.VolumeTarget] { return targetTable(auth.NewRules(nil)) }
