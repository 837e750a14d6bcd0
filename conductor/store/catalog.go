package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Catalogs is a table for each type of record.
func (s *Database) Catalogs() node.Catalogs {
	return node.Catalogs{
		DeployTemplates:  catalog[node.DeployTemplate, *node.DeployTemplate]{"deploy_templates", s},
		Runbooks:         catalog[node.Runbook, *node.Runbook]{"runbooks", s},
		Allocations:      catalog[node.Allocation, *node.Allocation]{allocations, s},
		Chassis:          catalog[node.Chassis, *node.Chassis]{"chassis", s},
		Portgroups:       catalog[node.Portgroup, *node.Portgroup]{portgroups, s},
		VolumeConnectors: catalog[node.VolumeConnector, *node.VolumeConnector]{connectors, s},
		VolumeTargets:    catalog[node.VolumeTarget, *node.VolumeTarget]{targets, s},
		InspectionRules:  catalog[node.InspectionRule, *node.InspectionRule]{"inspection_rules", s},
		EraseReports:     catalog[node.EraseReport, *node.EraseReport]{eraseReports, s},
		Images:           catalog[node.Image, *node.Image]{"images", s},
	}
}

// catalog is a table of records. Their keys are columns, NULL for none; the
// document beside them is the whole of a record.
type catalog[T any, P node.Recorded[T]] struct {
	table[T, P]
	s *Database
}

// table is the name of a table of records, with the writes to it that are part of a
// transaction.
type table[T any, P node.Recorded[T]] string

func (c table[T, P]) kind() string { return P(new(T)).Kind() }

func (c table[T, P]) missing(ref string) error {
	kind := c.kind()
	return node.Refuse(node.NotFound, "%s%s %s could not be found.", strings.ToUpper(kind[:1]), kind[1:], ref)
}

// refused is the error for a record that an index or the table of nodes refuses.
func (c table[T, P]) refused(v P, err error) error {
	col, ok := taken(err)
	for _, k := range v.Keys() {
		switch {
		case ok && col == string(c)+"."+k.Column:
			return node.Refuse(node.Conflict, "%s", k.Taken)
		case k.Column == "node_uuid" && orphan(err):
			return noNode(k.Value)
		}
	}
	if ok {
		return node.Refuse(node.Conflict, "%s", node.Exists(c.kind(), "UUID", v.Head().UUID))
	}
	return err
}

// List returns all records, or those with one of the values in a column. When some
// cannot be decoded it lists the others, and says so by a *node.UnreadableError.
func (c catalog[T, P]) List(ctx context.Context, column string, values ...string) (all []T, err error) {
	err = c.Each(ctx, node.RecordQuery{Column: column, Values: values}, func(v *T) bool {
		all = append(all, *v)
		return true
	})
	return all, err
}

// Each calls f for the records that List returns, until it returns false.
func (c catalog[T, P]) Each(ctx context.Context, q node.RecordQuery, f func(*T) bool) error {
	if q.Column != "" && len(q.Values) == 0 {
		return ctx.Err()
	}
	after := int64(0)
	if q.After != "" {
		err := c.s.read.row(ctx, []any{&after}, "SELECT id FROM "+string(c.table)+" WHERE uuid = ?", q.After)
		if errors.Is(err, sql.ErrNoRows) {
			return c.missing(q.After)
		}
		if err != nil {
			return fmt.Errorf("read %s %s: %w", c.kind(), q.After, err)
		}
	}
	bad := unread{kind: c.kind()}
	err := c.s.read.batches(ctx, after, func() *query {
		sel := newQuery(c.s.dialect, c.selectRows())
		if q.Column != "" {
			sel.whereAmong(q.Column, q.Values)
		}
		return sel
	}, func(r recordRow) bool {
		v, err := decodeSealed[T](c.s.seal, string(c.table), r.uuid, r.doc, r.sealed)
		return !bad.look(r.uuid, err) || f(&v)
	})
	if err != nil {
		return fmt.Errorf("list %ss: %w", c.kind(), err)
	}
	return bad.err()
}

// Find finds a record by UUID, or by its name if it has one.
func (c catalog[T, P]) Find(ctx context.Context, ref string) (T, error) {
	var none T
	var row recordRow
	sel := newQuery(c.s.dialect, c.selectRows())
	if slices.ContainsFunc(P(new(T)).Keys(), func(k node.Key) bool { return k.Column == "name" }) {
		sel.where("(uuid = ? OR name = ?)", ref, ref)
	} else {
		sel.where("uuid = ?", ref)
	}
	sel.add(" ORDER BY uuid = ? DESC LIMIT 1", ref)
	err := c.s.read.row(ctx, row.places(), sel.String(), sel.values...)
	if errors.Is(err, sql.ErrNoRows) {
		return none, c.missing(ref)
	}
	if err != nil {
		return none, fmt.Errorf("read %s %s: %w", c.kind(), ref, err)
	}
	return decodeSealed[T](c.s.seal, string(c.table), row.uuid, row.doc, row.sealed)
}

// recordRow is a record as it is stored.
type recordRow struct {
	id        int64
	uuid, doc string
	sealed    []byte
}

func (r *recordRow) places() []any { return []any{&r.id, &r.uuid, &r.doc, &r.sealed} }

// seals reports whether records of the table may hold secrets.
func (c table[T, P]) seals() bool { return slices.Contains(sealedCatalogs, string(c)) }

// selectRows begins a query of recordRows.
func (c table[T, P]) selectRows() string {
	sealed := "NULL"
	if c.seals() {
		sealed = "sealed"
	}
	return "SELECT id, uuid, doc, " + sealed + " FROM " + string(c)
}

// Insert stores v, which is a copy of the caller's, as the first of its revisions.
func (c catalog[T, P]) Insert(ctx context.Context, v T) (T, error) {
	P(&v).Head().Revision = 1
	return c.write(ctx, v, c.insert)
}

// putAt inserts a record of revision 0, and saves any other.
func (c table[T, P]) putAt(t *tx, v P) error {
	head := v.Head()
	if head.Revision++; head.Revision == 1 {
		return c.insert(t, v)
	}
	return c.save(t, v)
}

func (c table[T, P]) insert(t *tx, v P) error {
	doc, envelope, err := c.encode(t.seal, v)
	if err != nil {
		return err
	}
	if err := c.bound(t, v, len(doc)+len(envelope)); err != nil {
		return err
	}
	columns, marks, args := "uuid, revision, doc", "?, ?, ?", []any{v.Head().UUID, v.Head().Revision, doc}
	if c.seals() {
		columns, marks, args = columns+", sealed", marks+", ?", append(args, blob(envelope))
	}
	for _, k := range v.Keys() {
		columns, marks, args = columns+", "+k.Column, marks+", NULLIF(?, '')", append(args, k.Value)
	}
	_, err = t.exec("INSERT INTO "+string(c)+" ("+columns+") VALUES ("+marks+")", args...)
	return c.refused(v, err)
}

// Save stores v, which is a copy of the caller's, as the revision after its own.
func (c catalog[T, P]) Save(ctx context.Context, v T) (T, error) {
	P(&v).Head().Revision++
	return c.write(ctx, v, c.save)
}

func (c table[T, P]) save(t *tx, v P) error {
	doc, envelope, err := c.encode(t.seal, v)
	if err != nil {
		return err
	}
	if err := c.bound(t, v, len(doc)+len(envelope)); err != nil {
		return err
	}
	head := v.Head()
	set, args := "revision = ?, doc = ?", []any{head.Revision, doc}
	if c.seals() {
		set, args = set+", sealed = ?", append(args, blob(envelope))
	}
	for _, k := range v.Keys() {
		set, args = set+", "+k.Column+" = NULLIF(?, '')", append(args, k.Value)
	}
	created, err := json.Marshal(head.CreatedAt)
	if err != nil {
		return fmt.Errorf("encode the time of %s %s: %w", c.kind(), head.UUID, err)
	}
	// A record deleted and made again under its UUID is another record, although its
	// revision may be the same.
	args = append(args, head.UUID, head.Revision-1, string(created))
	touched, err := t.exec("UPDATE "+string(c)+" SET "+set+
		" WHERE uuid = ? AND revision = ? AND "+t.created+" = ?", args...)
	if err != nil || touched == 1 {
		return c.refused(v, err)
	}
	found, err := t.exists("SELECT 1 FROM "+string(c)+" WHERE uuid = ?", head.UUID)
	switch {
	case err != nil:
		return err
	case !found:
		return c.missing(head.UUID)
	}
	return fmt.Errorf("save %s %s at revision %d: %w: read it again", c.kind(), head.UUID, head.Revision-1, node.ErrStale)
}

func (c table[T, P]) encode(seal sealer, v P) (doc string, envelope []byte, err error) {
	doc, envelope, err = seal.encode(string(c), v.Head().UUID, v)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s %s: %w", c.kind(), v.Head().UUID, err)
	}
	return doc, envelope, nil
}

// bound refuses a record beyond the number and bytes that its node may have.
func (c table[T, P]) bound(t *tx, v P, size int) error {
	for _, k := range v.Keys() {
		if k.Column == "node_uuid" && k.Value != "" {
			return t.boundParts(string(c), c.kind(), k.Value, v.Head().UUID, size)
		}
	}
	return nil
}

// write makes one write, and returns v when it was written.
func (c catalog[T, P]) write(ctx context.Context, v T, run func(*tx, P) error) (T, error) {
	var none T
	err := c.s.w.do(ctx, func(t *tx) error {
		if err := run(t, &v); err != nil {
			return err
		}
		return t.putEvents(node.EventsOf(ctx))
	})
	if err != nil {
		return none, err
	}
	return v, nil
}

// Delete removes a record.
func (c catalog[T, P]) Delete(ctx context.Context, uuid string) error {
	return c.s.w.do(freeing(ctx), func(t *tx) error {
		if err := c.drop(t, uuid); err != nil {
			return err
		}
		return t.putEvents(node.EventsOf(ctx))
	})
}

func (c table[T, P]) drop(t *tx, uuid string) error {
	touched, err := t.exec("DELETE FROM "+string(c)+" WHERE uuid = ?", uuid)
	if holder, ok := any(P(new(T))).(node.Holder); ok && orphan(err) {
		return node.Refuse(node.Invalid, "Cannot complete the requested action because %s %s contains %s.", c.kind(), uuid,
			holder.Holds())
	}
	if err == nil && touched == 0 {
		return c.missing(uuid)
	}
	return err
}
