package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A transaction of rows ends after so many rows or bytes: a config drive may have
// tens of megabytes, and a kill undoes no more than one transaction.
const (
	resealCount = 200
	resealBytes = 8 << 20
)

// sealedRow is a row that holds an envelope, or may hold plain secrets.
type sealedRow struct {
	id     int64
	key    string // the uuid; of an effect see effectKey; of a Secret namespace/name
	doc    string // of an effect its arguments; of a Secret its uid
	sealed []byte
}

// resealer seals the rows of one table with the newest key. reseal returns false for a
// row that needs no change.
type resealer struct {
	table  string
	column string // of the envelope
	read   string // SQL: rowid, key, doc, sealed
	write  string // SQL: sets ?1 doc and ?2 sealed of the rowid ?3
	reseal func(s sealer, table string, r *sealedRow) (changed bool, err error)
}

// resealers is every table that holds secrets.
var resealers = []resealer{
	records[node.Node]("nodes"),
	records[node.DeployTemplate]("deploy_templates"),
	records[node.Runbook]("runbooks"),
	records[node.VolumeTarget]("volume_targets"),
	records[node.InspectionRule]("inspection_rules"),
	{
		"effects", "sealed", "SELECT rowid, node || ' ' || name || ' ' || generation, args, sealed FROM effects WHERE ",
		"UPDATE effects SET args = ?1, sealed = ?2 WHERE rowid = ?3", resealEffect,
	},
	{
		"objects", "doc", "SELECT rowid, namespace || '/' || name, uid, doc FROM objects WHERE kind = 'Secret' AND ",
		"UPDATE objects SET doc = ?2 WHERE rowid = ?3 AND uid = ?1", resealSecret,
	},
}

// sealedCatalogs are the tables of records with secrets, other than nodes.
var sealedCatalogs = []string{"deploy_templates", "runbooks", "volume_targets", "inspection_rules"}

func records[T any](table string) resealer {
	return resealer{
		table, "sealed", "SELECT rowid, uuid, doc, sealed FROM " + table + " WHERE ",
		"UPDATE " + table + " SET doc = ?1, sealed = ?2 WHERE rowid = ?3", resealRecord[T],
	}
}

// resealRecord seals a record that has plain secrets, or an envelope of an older key.
func resealRecord[T any](s sealer, table string, r *sealedRow) (bool, error) {
	v, err := decode[T](r.doc)
	if err != nil { // a document that no build can read stays for `ferrite server store check`
		return s.resealEnvelope(table, r)
	}
	doc, envelope, err := s.encode(table, r.key, &v)
	if err != nil || envelope == nil { // nothing is plain
		changed, resealErr := s.resealEnvelope(table, r)
		return changed, errors.Join(err, resealErr)
	}
	if len(r.sealed) > 0 { // some are, of names that an earlier build took for no secrets
		if err := s.open(table, r.key, &v, r.sealed); err != nil {
			return false, nil //nolint:nilerr // reading the record names it
		}
		if doc, envelope, err = s.encode(table, r.key, &v); err != nil {
			return false, err
		}
	}
	r.doc, r.sealed = doc, envelope
	return true, nil
}

// resealSecret moves the Secret of a host. One of a lost key stays, and shows that it
// cannot be read.
func resealSecret(s sealer, _ string, r *sealedRow) (bool, error) {
	namespace, name, _ := strings.Cut(r.key, "/")
	row := objects.Row{Key: objects.Key{Kind: hostapi.KindSecret, Namespace: namespace, Name: name}, UID: r.doc,
		Doc: r.sealed}
	doc, changed, err := objects.Reseal(row, s.ring)
	r.sealed = doc
	return changed, err
}

func resealEffect(s sealer, table string, r *sealedRow) (bool, error) {
	if len(r.sealed) > 0 {
		return s.resealEnvelope(table, r)
	}
	plain, envelope, err := s.sealArgs(r.key, []byte(r.doc))
	if err != nil || envelope == nil {
		return false, err
	}
	r.doc, r.sealed = plain, envelope
	return true, nil
}

// resealEnvelope moves an envelope to the newest key. A damaged envelope stays: reading its record reports it.
func (s sealer) resealEnvelope(table string, r *sealedRow) (bool, error) {
	if id, err := seal.KeyOf(r.sealed); err != nil || id == s.ring.Current() {
		return false, nil //nolint:nilerr // see above
	}
	plain, err := s.openBytes(table, r.key, r.sealed)
	if err != nil {
		return false, nil //nolint:nilerr // see above
	}
	r.sealed, err = s.ring.Seal(sealContext(table, r.key), plain)
	return true, err
}

// rows seals plain values, and values under an older key, row by row. It skips rows that are done, so that it can begin
// again after a kill.
func (s sealing) rows(ctx context.Context) error {
	for _, r := range resealers {
		r.read, r.write = strings.ReplaceAll(r.read, "rowid", s.d.row), strings.ReplaceAll(r.write, "rowid", s.d.row)
		if err := s.table(ctx, r); err != nil {
			return fmt.Errorf("table %s: %w", r.table, err)
		}
	}
	return nil
}

func (s sealing) table(ctx context.Context, r resealer) error {
	for last, more := int64(0), true; more; {
		err := inTransaction(ctx, s.db, func(tx *sql.Tx) (err error) {
			last, more, err = s.some(ctx, tx, r, last)
			return err
		})
		if err == nil {
			err = s.step("seal " + r.table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// some reseals rows behind the rowid last, and returns the rowid of the last one.
func (s sealing) some(ctx context.Context, tx *sql.Tx, r resealer, last int64) (_ int64, more bool, err error) {
	next, err := tx.PrepareContext(ctx, s.d.bind(r.read+s.d.row+" > ? ORDER BY "+s.d.row+" LIMIT 1"))
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	bytes := 0
	for range resealCount {
		row := sealedRow{}
		found := false
		rows, err := next.QueryContext(ctx, last)
		if err != nil {
			return 0, false, err
		}
		err = eachRow(rows, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&row.id, &row.key, &row.doc, &row.sealed)
		})
		if err != nil || !found {
			return last, false, err
		}
		last = row.id
		changed, err := r.reseal(s.sealer, r.table, &row)
		if err != nil {
			return 0, false, fmt.Errorf("row %s: %w", row.key, err)
		}
		if !changed {
			continue
		}
		if _, err := tx.ExecContext(ctx, s.d.bind(r.write),
			s.d.args([]any{row.doc, blob(row.sealed), row.id})...); err != nil {
			return 0, false, fmt.Errorf("row %s: %w", row.key, err)
		}
		if bytes += len(row.doc) + len(row.sealed); bytes > resealBytes {
			break
		}
	}
	return last, true, nil
}
