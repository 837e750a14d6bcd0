package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// auditBatch bounds the entries that are deleted in one transaction.
const auditBatch = 1000

// AuditLives lists the lives of all processes that wrote entries. It reads the ends of each chain alone: an audit may
// have millions of entries.
func (s *Database) AuditLives(ctx context.Context) (lives []node.AuditLife, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var from, until int64
		err := rows.Scan(&from, &until)
		lives = append(lives, node.AuditLife{From: time.UnixMicro(from).UTC(), Until: time.UnixMicro(until).UTC()})
		return err
	}, "WITH RECURSIVE c(chain) AS (SELECT min(chain) FROM audit UNION ALL "+
		"SELECT (SELECT min(a.chain) FROM audit a WHERE a.chain > c.chain) FROM c WHERE c.chain IS NOT NULL) "+
		"SELECT (SELECT at FROM audit a WHERE a.chain = c.chain ORDER BY number LIMIT 1), "+
		"(SELECT at FROM audit a WHERE a.chain = c.chain ORDER BY number DESC LIMIT 1) FROM c WHERE chain IS NOT NULL")
	if err != nil {
		return nil, fmt.Errorf("list the chains of the audit: %w", err)
	}
	return lives, nil
}

// AuditCuts lists the cuts of the audit that were made. It also lists, with Done false, the cuts that would come with
// the deletion of entries older than before. The newest older entry of each conductor stays, so that the chain of later
// entries has a beginning.
func (s *Database) AuditCuts(ctx context.Context, before time.Time) ([]node.AuditCut, error) {
	var known, all []node.AuditCut
	err := s.read.each(ctx, func(rows *sql.Rows) error {
		c := node.AuditCut{Done: true}
		err := rows.Scan(&c.Writer, &c.ID, &c.Chain, &c.Number, &c.Hash)
		known = append(known, c)
		return err
	}, "SELECT writer, cut, chain, number, hash FROM audit_writers ORDER BY writer")
	if err != nil {
		return nil, fmt.Errorf("list the cuts of the audit: %w", err)
	}
	for _, c := range known {
		next := node.AuditCut{Writer: c.Writer}
		err := s.read.row(ctx, []any{&next.ID, &next.Chain, &next.Number, &next.Hash},
			"SELECT id, chain, number, hash FROM audit WHERE writer = ? AND id < coalesce("+
				"(SELECT id FROM audit WHERE writer = ? AND at >= ? ORDER BY id LIMIT 1), ?) ORDER BY id DESC LIMIT 1 OFFSET 1",
			c.Writer, c.Writer, micros(before), int64(math.MaxInt64))
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && next.ID <= c.ID:
			next = c
		case err != nil:
			return nil, fmt.Errorf("look for old entries of the audit: %w", err)
		}
		if next.ID > 0 {
			all = append(all, next)
		}
	}
	return all, nil
}

// CutAudit allows entries up to the cuts to be deleted. The entry of the audit with this chain and number names them.
func (s *Database) CutAudit(ctx context.Context, chain string, number int64, cuts []node.AuditCut) error {
	return s.w.do(freeing(ctx), func(t *tx) error {
		for _, c := range cuts {
			if _, err := t.exec("UPDATE audit_writers SET cut = ?, chain = ?, number = ?, hash = ?, "+
				"stub = (SELECT id FROM audit WHERE chain = ? AND number = ?) WHERE writer = ?",
				c.ID, c.Chain, c.Number, c.Hash, chain, number, c.Writer); err != nil {
				return fmt.Errorf("cut the audit of %s: %w", c.Writer, err)
			}
		}
		return nil
	})
}

// PruneAudit deletes some entries up to the cuts, and reports how many: 0 when there are no more.
func (s *Database) PruneAudit(ctx context.Context) (deleted int, err error) {
	const old = " FROM audit WHERE writer = ? AND id <= ? ORDER BY id LIMIT ?"
	err = s.w.do(freeing(ctx), func(t *tx) error {
		deleted = 0
		cuts := map[string]int64{}
		err := t.query(func(scan func(...any) error) error {
			var writer string
			var cut int64
			err := scan(&writer, &cut)
			cuts[writer] = cut
			return err
		}, "SELECT writer, cut FROM audit_writers WHERE cut > 0")
		if err != nil {
			return err
		}
		for writer, cut := range cuts {
			var count, size int64
			if err := t.query(func(scan func(...any) error) error { return scan(&count, &size) },
				"SELECT count(*), coalesce(sum(size), 0) FROM (SELECT octet_length(doc) AS size"+old+") AS gone",
				writer, cut, auditBatch); err != nil {
				return err
			}
			if count == 0 {
				continue
			}
			if _, err := t.exec("DELETE FROM audit WHERE id IN (SELECT id"+old+")", writer, cut, auditBatch); err != nil {
				return err
			}
			deleted += int(count)
			if err := t.countAudit(writer, -count, -size); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("prune the audit: %w", err)
	}
	return deleted, nil
}
