package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// mostRepeats bounds how often a transaction is done again because of others.
	mostRepeats = 50
	// longestWrite bounds one try of a transaction: a server that is cut off answers nothing.
	longestWrite = 60 * time.Second
	shortestWait = 20 * time.Millisecond
	longestWait  = 2 * time.Second
)

// postgresWriter runs every write in a transaction of its own, many at a time. Rows are
// locked by the statements that change them, and revisions are compared in them.
type postgresWriter struct {
	db       *sql.DB
	cache    *nodeCache
	seal     sealer
	lead     writeRight
	patience time.Duration
	group    *string                   // only nodes of this group are written, nil for all nodes
	fullAt   atomic.Pointer[time.Time] // of the last write that found no room
}

// fullTime is how long a server counts as full after a write that found no room.
const fullTime = 15 * time.Second

func (w *postgresWriter) full() error {
	if at := w.fullAt.Load(); at != nil && time.Since(*at) < fullTime {
		return ErrFull
	}
	return nil
}

// writeRight is the right to write.
type writeRight interface {
	// term is the group and its epoch. A write finds their row in the table leader until the right has passed. The
	// group is "" for a conductor without a cluster.
	term() (group string, epoch int64)
	// superseded is the error of a write that found none.
	superseded() error
	look()        // asks for a look at the connection
	state() error // why the database cannot be used at the moment
	over() context.Context
	close() error
}

func (w *postgresWriter) do(ctx context.Context, run func(t *tx) error) error {
	err := w.patiently(ctx, func() error { return w.once(ctx, run) })
	if errors.Is(err, ErrFull) {
		w.fullAt.Store(new(time.Now()))
	}
	return err
}

// transact runs writes of documents in one transaction.
func (w *postgresWriter) transact(jobs []*writeRequest) error {
	return w.do(context.Background(), func(t *tx) error { return t.savepoints(jobs) })
}

// patiently repeats a transaction that a lost connection, a deadlock or a serialization failure has undone.
func (w *postgresWriter) patiently(ctx context.Context, try func() error) error {
	began, wait := time.Now(), shortestWait
	for repeats := 0; ; repeats++ {
		err := try()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrUncertain): // even if the right has passed since, it may have been written
			return err
		case w.lead.over().Err() != nil:
			return fmt.Errorf("%w: %w", w.lead.superseded(), err)
		case again(err) && repeats < mostRepeats:
			wait = shortestWait
		case lost(err) && time.Since(began) < w.patience:
			w.lead.look()
		default:
			return full(err)
		}
		if pause(ctx, rand.N(wait)) != nil { //nolint:gosec // a wait is no secret
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		if w.lead.over().Err() != nil { // the next leader needs the connections
			return fmt.Errorf("%w: %w", w.lead.superseded(), err)
		}
		wait = min(2*wait, longestWait)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once is one try. Its error is ErrUncertain, or nothing was written.
func (w *postgresWriter) once(ctx context.Context, run func(t *tx) error) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // a connection that is gone was reported already
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestWrite)
	defer cancel()
	defer context.AfterFunc(w.lead.over(), cancel)()
	id, err := w.begin(within, conn)
	if err != nil {
		return undo(within, conn, err)
	}
	t := &tx{dialect: postgresDialect, ctx: within, conn: conn, seal: w.seal, group: w.group}
	if err := run(t); err != nil {
		return undo(within, conn, err)
	}
	written := w.cache.writing(t.nodes) // readers may see it before COMMIT returns
	err = commit(within, conn)
	written(err == nil)
	if err == nil || sqlState(err) != "" && !lost(err) {
		return err
	}
	return w.outcome(within, id, t.nodes, err)
}

// The statements that begin a write. A write shares the lock that a new epoch takes exclusively (migration 11 of
// PostgreSQL's). It reads the epoch after that: at READ COMMITTED a statement sees the commits from before it began.
const (
	beginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED"
	shareEpoch = "SELECT pg_advisory_xact_lock_shared(('leader'::regclass::bigint << 32) | " +
		"(hashtext($1)::bigint & 4294967295))"
	checkEpoch = "SELECT pg_current_xact_id()::text, " + timeline + ", " + life +
		" FROM leader WHERE conductor_group = $1 AND epoch = $2"
)

// begin begins a transaction of this leadership, in one round trip.
func (w *postgresWriter) begin(ctx context.Context, conn *sql.Conn) (id transaction, err error) {
	group, epoch := w.lead.term()
	begin := &pgx.Batch{}
	begin.Queue(beginWrite)
	begin.Queue(shareEpoch, group)
	begin.Queue(checkEpoch, group, epoch).QueryRow(func(row pgx.Row) error {
		return row.Scan(&id.xid, &id.timeline, &id.life)
	})
	err = conn.Raw(func(c any) error {
		return c.(*stdlib.Conn).Conn().SendBatch(ctx, begin).Close() //nolint:forcetypeassert // our pool's
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = w.lead.superseded()
	}
	return id, err
}

var errRolledBack = errors.New("PostgreSQL has rolled the transaction back")

func commit(ctx context.Context, conn *sql.Conn) error {
	results, err := simply(ctx, conn, "COMMIT")
	if err == nil && results[0].CommandTag.String() != "COMMIT" {
		err = errRolledBack
	}
	return err
}

// undo rolls back, and reports a lost connection.
func undo(ctx context.Context, conn *sql.Conn, cause error) error {
	if _, err := simply(ctx, conn, "ROLLBACK"); err != nil && sqlState(cause) == "" {
		return fmt.Errorf("%w: %w", errConnection, cause)
	}
	return cause
}

// simply runs statements without arguments in one round trip.
func simply(ctx context.Context, conn *sql.Conn, text string) (results []*pgconn.Result, err error) {
	err = conn.Raw(func(c any) (err error) {
		results, err = c.(*stdlib.Conn).Conn().PgConn().Exec(ctx, text).ReadAll() //nolint:forcetypeassert // our pool's
		return err
	})
	return results, err
}
