package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// transaction names a transaction. Another one may get its number: after a failover in another timeline, and after a
// crash in another life, since a number that was not yet in the log on the disk is given out again.
type transaction struct{ xid, timeline, life string }

const (
	// timeline is the first eight digits of the name of a WAL file.
	timeline = "left(pg_walfile_name(pg_current_wal_lsn()), 8)"
	// life changes with each recovery from a crash, which discards the counters of statistics.
	life = "coalesce(pg_stat_get_bgwriter_stat_reset_time()::text, '')"
)

// fate is the result of a transaction, as far as the database knows it.
type fate string

const (
	wasCommitted  fate = "committed"
	wasAborted    fate = "aborted"
	isOpen        fate = "in progress"
	hasFailedOver fate = "failover" // the server took over: where its timeline begins, the transaction may be missing
	wasReused     fate = "reused"   // a transaction of this number was committed, which may be another one
)

// outcome finds out whether a transaction was committed, after its COMMIT got no answer.
func (w *postgresWriter) outcome(ctx context.Context, id transaction, nodes []written, cause error) error {
	if errors.Is(cause, errRolledBack) {
		return cause
	}
	began, wait := time.Now(), shortestWait
	for {
		found, err := w.fate(ctx, id)
		if err == nil && found == wasReused {
			found, err = w.evidence(ctx, id, nodes)
		}
		switch {
		case err == nil && found == wasCommitted:
			return nil
		case err == nil && found == wasAborted:
			return fmt.Errorf("%w: %w", errConnection, cause)
		case err == nil && found == isOpen, lost(err):
			w.lead.look()
		default:
			return fmt.Errorf("%w: %w", ErrUncertain, errors.Join(cause, err))
		}
		if time.Since(began) > w.patience || pause(ctx, wait) != nil {
			return fmt.Errorf("%w: %w", ErrUncertain, cause)
		}
		wait = min(2*wait, longestWait)
	}
}

// fate asks for the fate of a transaction.
func (w *postgresWriter) fate(ctx context.Context, id transaction) (found fate, err error) {
	err = w.db.QueryRowContext(ctx, "SELECT CASE WHEN "+timeline+" <> $2 THEN 'failover' "+
		"ELSE replace(coalesce(pg_xact_status($1::text::xid8), ''), 'committed', "+
		"CASE WHEN "+life+" = $3 THEN 'committed' ELSE 'reused' END) END", id.xid, id.timeline, id.life).Scan(&found)
	if sqlState(err) == invalidParameter { // the number is still to be given out: the server has lost it in a crash
		return wasAborted, nil
	}
	return found, err
}

// evidence looks for the rows that a transaction wrote, after a crash. It returns "" when they prove nothing.
func (w *postgresWriter) evidence(ctx context.Context, id transaction, nodes []written) (fate, error) {
	all := len(nodes) > 0
	for _, n := range nodes {
		var revision int64
		var same bool
		err := w.db.QueryRowContext(ctx, "SELECT revision, doc = $2 AND xmin::text::bigint = $3::text::bigint & 4294967295 "+
			"FROM nodes WHERE uuid = $1", n.uuid, cleanText(n.doc), id.xid).Scan(&revision, &same)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			all = false
		case err != nil:
			return "", err
		case revision < n.revision:
			return wasAborted, nil
		}
		all = all && same && revision == n.revision
	}
	if all {
		return wasCommitted, nil
	}
	return "", nil
}
