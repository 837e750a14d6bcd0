package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// catalog is a table of records that operators write and name, and that belong
// to no node: deploy templates, runbooks. There are few, and they change seldom.
type catalog[T any] struct {
	table string // in the database
	kind  string // for people
	label func(v *T) label
}

// label is what a table of a catalog knows of a record besides the document.
type label struct {
	uuid, name string
	revision   *int64
}

var (
	deployTemplates = catalog[node.DeployTemplate]{"deploy_templates", "deploy template", func(t *node.DeployTemplate) label {
		return label{t.UUID, t.Name, &t.Revision}
	}}
	runbooks = catalog[node.Runbook]{"runbooks", "runbook", func(r *node.Runbook) label {
		return label{r.UUID, r.Name, &r.Revision}
	}}
)

func (c catalog[T]) missing(ref string) error {
	return node.Refuse(node.NotFound, "%s%s %s could not be found.", strings.ToUpper(c.kind[:1]), c.kind[1:], ref)
}

// taken words a unique index's refusal as Ironic does.
func (c catalog[T]) taken(l label, err error) error {
	col, ok := taken(err)
	switch {
	case !ok:
		return err
	case col == c.table+".name":
		return node.Refuse(node.Conflict, "A %s with name %s already exists.", c.kind, l.name)
	}
	return node.Refuse(node.Conflict, "A %s with UUID %s already exists.", c.kind, l.uuid)
}

// list returns those that where lets through, in the order of creation.
func (c catalog[T]) list(ctx context.Context, s *SQLite, where func(*bun.SelectQuery)) ([]T, error) {
	sel := s.read.NewSelect().Table(c.table).Column("doc").OrderExpr("id")
	where(sel)
	var docs []string
	if err := sel.Scan(ctx, &docs); err != nil {
		return nil, fmt.Errorf("list %ss: %w", c.kind, err)
	}
	return decodeAll[T](docs)
}

func (c catalog[T]) find(ctx context.Context, s *SQLite, ref string) (T, error) {
	var doc string
	err := s.read.NewSelect().Table(c.table).Column("doc").Where("uuid = ? OR name = ?", ref, ref).
		OrderExpr("uuid = ? DESC", ref).Limit(1).Scan(ctx, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		err = c.missing(ref)
	} else if err != nil {
		err = fmt.Errorf("read %s %s: %w", c.kind, ref, err)
	}
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](doc)
}

// insert stores v, which is a copy of the caller's, as the first of its revisions.
func (c catalog[T]) insert(ctx context.Context, s *SQLite, v T) (T, error) {
	l := c.label(&v)
	*l.revision = 1
	return c.write(ctx, s, v, func(t *tx, doc string) error {
		_, err := t.exec("INSERT INTO "+c.table+" (uuid, name, revision, doc) VALUES (?, ?, 1, ?)", l.uuid, l.name, doc)
		return c.taken(l, err)
	})
}

// save stores v, which is a copy of the caller's, as the revision after its own.
func (c catalog[T]) save(ctx context.Context, s *SQLite, v T) (T, error) {
	l := c.label(&v)
	old := *l.revision
	*l.revision++
	return c.write(ctx, s, v, func(t *tx, doc string) error {
		touched, err := t.exec("UPDATE "+c.table+" SET name = ?, revision = ?, doc = ? WHERE uuid = ? AND revision = ?",
			l.name, old+1, doc, l.uuid, old)
		if err != nil || touched == 1 {
			return c.taken(l, err)
		}
		found, err := t.exists("SELECT 1 FROM "+c.table+" WHERE uuid = ?", l.uuid)
		switch {
		case err != nil:
			return err
		case !found:
			return c.missing(l.uuid)
		}
		return fmt.Errorf("save %s %s at revision %d: %w: read it again", c.kind, l.uuid, old, node.ErrStale)
	})
}

// write runs one write with v as a document, and returns v when it was written.
func (c catalog[T]) write(ctx context.Context, s *SQLite, v T, run func(t *tx, doc string) error) (T, error) {
	var none T
	doc, err := json.Marshal(v)
	if err != nil {
		return none, fmt.Errorf("encode %s %s: %w", c.kind, c.label(&v).uuid, err)
	}
	if err := s.w.do(ctx, func(t *tx) error { return run(t, string(doc)) }); err != nil {
		return none, err
	}
	return v, nil
}

func (c catalog[T]) drop(ctx context.Context, s *SQLite, uuid string) error {
	return s.w.do(ctx, func(t *tx) error {
		touched, err := t.exec("DELETE FROM "+c.table+" WHERE uuid = ?", uuid)
		if err == nil && touched == 0 {
			return c.missing(uuid)
		}
		return err
	})
}
