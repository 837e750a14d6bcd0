package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const auditColumns = "id, at, writer, chain, number, hash, node_uuid, doc"

// AppendAudit adds entries of one conductor to the audit, all or none. A number that a chain has already is
// node.ErrConflict.
func (s *Database) AppendAudit(ctx context.Context, entries []node.AuditEntry) error {
	if slices.ContainsFunc(entries, func(e node.AuditEntry) bool { return e.Done }) {
		ctx = freeing(ctx) // on a full disk nothing else writes
	}
	return s.w.do(ctx, func(t *tx) error {
		bytes := int64(0)
		for i := range entries {
			e := &entries[i]
			_, err := t.exec("INSERT INTO audit (at, writer, chain, number, hash, node_uuid, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
				micros(e.At), e.Writer, e.Chain, e.Number, e.Hash, e.Node, string(e.Doc))
			if _, exists := taken(err); exists {
				return fmt.Errorf("entry %d of the audit chain %s: %w", e.Number, e.Chain, node.ErrConflict)
			}
			if err != nil {
				return err
			}
			bytes += int64(len(e.Doc))
		}
		return t.countAudit(entries[0].Writer, int64(len(entries)), bytes)
	})
}

// countAudit counts entries of a conductor.
func (t *tx) countAudit(writer string, entries, bytes int64) error {
	_, err := t.exec("INSERT INTO audit_writers (writer, entries, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (writer) "+
		"DO UPDATE SET entries = audit_writers.entries + ?2, bytes = audit_writers.bytes + ?3", writer, entries, bytes)
	return err
}

// AuditSize is how many entries the audit has, and how many bytes these are.
func (s *Database) AuditSize(ctx context.Context) (entries, bytes int64, err error) {
	err = s.read.row(ctx, []any{&entries, &bytes},
		"SELECT CAST(coalesce(sum(entries), 0) AS BIGINT), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM audit_writers")
	return entries, bytes, err
}

// Audit lists at most limit entries after an id, in the order in which they were written; of a node, if one is named.
func (s *Database) Audit(ctx context.Context, nodeUUID string, after int64, limit int) ([]node.AuditEntry, error) {
	text, args := "SELECT "+auditColumns+" FROM audit WHERE id > ? AND NOT EXISTS (SELECT 1 FROM audit_writers w "+
		"WHERE w.writer = audit.writer AND audit.id <= w.cut)", []any{after}
	if nodeUUID != "" {
		text, args = text+" AND node_uuid = ?", append(args, nodeUUID)
	}
	return s.auditEntries(ctx, text+" ORDER BY id LIMIT ?", append(args, limit)...)
}

// LastAudit is the newest entry that a conductor has written; false for none.
func (s *Database) LastAudit(ctx context.Context, writer string) (node.AuditEntry, bool, error) {
	found, err := s.auditEntries(ctx, "SELECT "+auditColumns+" FROM audit WHERE writer = ? ORDER BY id DESC LIMIT 1",
		writer)
	if err != nil || len(found) == 0 {
		return node.AuditEntry{}, false, err
	}
	return found[0], true, nil
}

func (s *Database) auditEntries(ctx context.Context, text string, args ...any) (found []node.AuditEntry, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var e node.AuditEntry
		var at int64
		var doc string
		if err := rows.Scan(&e.ID, &at, &e.Writer, &e.Chain, &e.Number, &e.Hash, &e.Node, &doc); err != nil {
			return err
		}
		e.At, e.Doc = time.UnixMicro(at).UTC(), []byte(doc)
		found = append(found, e)
		return nil
	}, text, args...)
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	return found, nil
}
