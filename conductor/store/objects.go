package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// Objects lists documents and returns the newest revision.
func (s *Database) Objects(ctx context.Context, q objects.Query) ([]objects.Row, int64, error) {
	rows, revision, err := s.objects(ctx, q)
	if err != nil {
		return nil, 0, fmt.Errorf("list documents: %w", err)
	}
	return rows, revision, nil
}

func (s *Database) objects(ctx context.Context, q objects.Query) (all []objects.Row, revision int64, err error) {
	sel, size := selectObjects(s.dialect, &q), 0
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var kind, namespace, name, uid, owners sql.NullString
		var at sql.NullInt64
		var doc []byte
		if err := rows.Scan(&revision, &kind, &namespace, &name, &uid, &at, &owners, &doc); err != nil {
			return err
		}
		if !kind.Valid {
			return nil
		}
		r := objects.Row{
			Key: objects.Key{Kind: kind.String, Namespace: namespace.String, Name: name.String},
			UID: uid.String, Revision: at.Int64, Doc: doc,
		}
		if owners.String != "" {
			r.Owners = strings.Fields(owners.String)
		}
		all = append(all, r)
		if size += len(doc); q.Bytes > 0 && size >= q.Bytes {
			return errBatch
		}
		return nil
	}, sel.String(), sel.values...)
	if err != nil && !errors.Is(err, errBatch) {
		return nil, 0, err
	}
	return all, revision, nil
}

// selectObjects reads rows and the revision in one statement, and so at one
// moment: there is a line without a row when nothing is found. It has one text for
// each combination of filters, which are few, so that each is prepared once.
func selectObjects(d dialect, q *objects.Query) *query {
	sel := newQuery(d, `SELECT r.revision, o.kind, o.namespace, o.name, o.uid, o.revision, o.owners, o.doc
	FROM objects_revision r LEFT JOIN objects o ON TRUE`)
	for _, c := range []struct {
		text string
		set  bool
		args []any
	}{
		{"o.kind = ?", q.Kind != "", []any{q.Kind}},
		{"o.namespace = ?", q.Namespace != "", []any{q.Namespace}},
		{"o.name = ?", q.Name != "", []any{q.Name}},
		{"o.owners <> '' AND " + d.contains("o.owners"), q.Owner != "", []any{" " + q.Owner + " "}},
		{"(o.namespace, o.name) > (?, ?)", q.After != objects.Key{}, []any{q.After.Namespace, q.After.Name}},
	} {
		if c.set {
			sel.add(" AND "+c.text, c.args...)
		}
	}
	limit := q.Limit
	if limit <= 0 {
		limit = math.MaxInt32
	}
	sel.add(" ORDER BY o.namespace, o.name, o.kind LIMIT ?", limit)
	return sel
}

// WriteObjects does all writes or none.
func (s *Database) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) error {
	var revisions []int64
	run := func(t *tx) (err error) {
		if revisions, err = t.writeObjects(writes); err != nil {
			return err
		}
		return t.putEvents(node.EventsOf(ctx))
	}
	// Deletions, and writes of documents that wait for their deletion (finalizers), make room.
	if !slices.ContainsFunc(writes, func(w objects.Write) bool {
		return !w.Delete && !bytes.Contains(w.Doc, []byte(`"deletionTimestamp":"`))
	}) {
		ctx = freeing(ctx)
	}
	if err := s.documents.doThen(ctx, run, func() { done(revisions) }); err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	return nil
}

func (t *tx) writeObjects(writes []objects.Write) (revisions []int64, err error) {
	var last int64
	if err := t.query(func(scan func(...any) error) error { return scan(&last) },
		"SELECT revision FROM objects_revision"+t.forUpdate); err != nil {
		return nil, err
	}
	for _, w := range writes {
		last++
		touched, err := t.writeObject(w, last)
		if _, exists := taken(err); exists || err == nil && touched == 0 {
			return nil, fmt.Errorf("%s: %w", w.Key, objects.ErrStale)
		}
		if err != nil {
			return nil, err
		}
		revisions = append(revisions, last)
	}
	_, err = t.exec("UPDATE objects_revision SET revision = ?", last)
	return revisions, err
}

func (t *tx) writeObject(w objects.Write, revision int64) (touched int64, err error) {
	owners := ""
	if len(w.Owners) > 0 {
		owners = " " + strings.Join(w.Owners, " ") + " "
	}
	switch {
	case w.Delete:
		return t.exec("DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ? AND revision = ?", w.Kind,
			w.Namespace, w.Name, w.Expect)
	case w.Expect == 0:
		return t.exec("INSERT INTO objects (kind, namespace, name, uid, revision, owners, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
			w.Kind, w.Namespace, w.Name, w.UID, revision, owners, w.Doc)
	}
	return t.exec("UPDATE objects SET uid = ?, revision = ?, owners = ?, doc = ? WHERE kind = ? AND namespace = ? AND "+
		"name = ? AND revision = ?",
		w.UID, revision, owners, w.Doc, w.Kind, w.Namespace, w.Name, w.Expect)
}
