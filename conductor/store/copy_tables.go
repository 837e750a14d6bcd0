package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// copiedTable is a table that Copy copies.
type copiedTable struct {
	name string
	key  string // columns that order its rows
	// numbered: its ids are never given twice.
	numbered bool
}

// copiedTables lists every table, except those for the schema's version and for leadership. A table comes after the
// tables that it refers to.
var copiedTables = []copiedTable{
	{"sealing", "key", false},
	{"chassis", "id", true},
	{"nodes", "id", true},
	{"portgroups", "id", true},
	{"ports", "id", true},
	{"effects", "id", true},
	{"history", "id", true},
	{"inspected", "node_uuid", false},
	{"told", "node_uuid", false},
	{"leases", "mac", false},
	{"declines", "subnet, ip", false},
	{"deploy_templates", "id", true},
	{"runbooks", "id", true},
	{"volume_connectors", "id", true},
	{"volume_targets", "id", true},
	{"allocations", "id", true},
	{"inspection_rules", "id", true},
	{"erase_reports", "id", true},
	{"images", "id", true},
	{"audit", "id", true},
	{"audit_writers", "writer", false}, // after the entries that name its cuts
	{"objects", "kind, namespace, name", false},
	{"objects_revision", "revision", false},
	{"holds", "id", false},
}

// uncopied columns number the rows of one database alone.
func (t copiedTable) uncopied(column string) bool { return t.name == "objects" && column == "id" }

// valueKind is the kind of a column's values, in any database.
type valueKind string

const (
	numbers valueKind = "numbers" // truth values are 0 and 1
	texts   valueKind = "texts"
	bytesOf valueKind = "bytes"
)

// valueKinds are the declared types of both databases.
var valueKinds = map[string]valueKind{
	"INTEGER": numbers, "TEXT": texts, "BLOB": bytesOf,
	"bigint": numbers, "integer": numbers, "boolean": numbers, "text": texts, "bytea": bytesOf,
}

// copiedColumn is a column; truth: the database stores it as a boolean.
type copiedColumn struct {
	name  string
	kind  valueKind
	truth bool
}

func (c copiedColumn) String() string           { return c.name + " (" + string(c.kind) + ")" }
func (c copiedColumn) same(o copiedColumn) bool { return c.name == o.name && c.kind == o.kind }

// columns are the columns of a table that are stored, by name.
func (s *copySide) columns(ctx context.Context, t copiedTable) (all []copiedColumn, err error) {
	err = s.each(ctx, s.columnsOf, func(rows *sql.Rows) error {
		var name, declared string
		if err := rows.Scan(&name, &declared); err != nil {
			return err
		}
		kind, known := valueKinds[declared]
		if !known {
			return fmt.Errorf("column %s: expected numbers, texts or bytes, found %s", name, declared)
		}
		if !t.uncopied(name) {
			all = append(all, copiedColumn{name, kind, declared == "boolean"})
		}
		return nil
	}, t.name)
	slices.SortFunc(all, func(a, b copiedColumn) int { return strings.Compare(a.name, b.name) })
	return all, err
}

// each calls read for every row.
func (s *copySide) each(ctx context.Context, text string, read func(*sql.Rows) error, args ...any) error {
	rows, err := s.conn.QueryContext(ctx, s.bind(text), args...)
	if err != nil {
		return err
	}
	return eachRow(rows, read)
}

// copiedRows reads rows in the order of their keys, and sums them up as they pass. It is the pgx.CopyFromSource of a
// table.
type copiedRows struct {
	*sql.Rows
	columns []copiedColumn
	plain   func(string) string // decodes a text of this database
	values  []any
	places  []any
	count   int64
	digest  hash.Hash
	buffer  []byte
}

func (s *copySide) rows(ctx context.Context, t copiedTable, columns []copiedColumn) (*copiedRows, error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT "+strings.Join(columnList(columns), ", ")+" FROM "+t.name+
		" ORDER BY "+t.key)
	if err != nil {
		return nil, err
	}
	r := &copiedRows{Rows: rows, columns: columns, plain: s.read, values: make([]any, len(columns)), digest: sha256.New()}
	for i := range r.values {
		r.places = append(r.places, &r.values[i])
	}
	return r, nil
}

func columnList(columns []copiedColumn) (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// Values are the values of a row: int64, string, []byte, or nil for NULL. They are good until the next one.
func (r *copiedRows) Values() ([]any, error) {
	if err := r.Scan(r.places...); err != nil {
		return nil, err
	}
	r.buffer = r.buffer[:0]
	for i, c := range r.columns {
		v, err := c.value(r.values[i], r.plain)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		r.values[i] = v
		r.buffer = appendValue(r.buffer, v)
	}
	r.digest.Write(r.buffer)
	r.count++
	return r.values, nil
}

func (r *copiedRows) copied(table string) Copied {
	return Copied{table, r.count, hex.EncodeToString(r.digest.Sum(nil))}
}

var errOtherValue = errors.New("its rows break its declaration: run ferrite server store check")

// value converts a value to the form that all databases share. plain decodes a text of the source database.
func (c copiedColumn) value(v any, plain func(string) string) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		if c.kind == numbers {
			return v, nil
		}
	case string:
		if c.kind == texts {
			return plain(v), nil
		}
	case []byte:
		switch c.kind {
		case bytesOf:
			return v, nil
		case texts:
			return plain(string(v)), nil
		case numbers:
		}
	}
	return nil, errOtherValue
}

// appendValue writes a value so that different rows never look the same.
func appendValue(out []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return binary.BigEndian.AppendUint64(append(out, 'n'), uint64(v)) //nolint:gosec // any bits will do
	case string:
		return append(binary.BigEndian.AppendUint64(append(out, 't'), uint64(len(v))), v...)
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(out, 'b'), uint64(len(v))), v...)
	default:
		return append(out, '0')
	}
}
