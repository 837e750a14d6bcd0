package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Keys of advisory locks, the first of two (postgresql.org/docs/15/explicit-locking.html).
const (
	conductorLock = 0x66657272 // of the conductor that has a schema of the database
	machineLocks  = 0x6d616368 // of machines
	schemaLock    = 0x73636865 // held while the schema is changed
)

var (
	// ErrInUse refuses a database that a conductor has open.
	ErrInUse = errors.New("another conductor is using the database")
	// ErrSuperseded ends a conductor after another one has taken its database.
	ErrSuperseded error = unavailable("another conductor has taken the database: nothing of this was written")
)

const (
	lookEvery = 2 * time.Second
	lookTime  = 5 * time.Second
)

// leadership is the right to write to a database. One connection holds an advisory lock, which keeps other conductors
// away while it lasts. Every write is fenced by the epoch: when the connection is lost and another conductor takes the
// database, the writes of this one find that their epoch has passed.
type leadership struct {
	config *pgx.ConnConfig
	epoch  int64
	report func(error)
	conn   *pgx.Conn
	now    chan struct{} // asks for a look at once
	end    context.CancelFunc
	ended  chan struct{}

	mu  sync.Mutex
	err error // why the database cannot be used at the moment
}

// lead takes the database. It returns ErrInUse when another conductor has it.
func lead(ctx context.Context, config *pgx.ConnConfig, report func(error)) (*leadership, error) {
	if report == nil {
		report = func(error) {}
	}
	l := &leadership{config: config, report: report, now: make(chan struct{}, 1), ended: make(chan struct{})}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	if err := l.lock(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return l, nil
}

// lockTime is how long to wait for a lock that an ended client may still hold: the server notices a closed connection
// late.
const lockTime = 2 * time.Second

func (l *leadership) lock(ctx context.Context) error {
	free, err := tryLock(ctx, l.conn, "SELECT pg_try_advisory_lock($1, hashtext(current_schema()))")
	if err == nil && !free {
		return l.taken(ctx)
	}
	return err
}

// tryLock takes the conductors' lock by a query, and reports whether it was free within lockTime.
func tryLock(ctx context.Context, conn *pgx.Conn, query string) (free bool, err error) {
	for end := time.Now().Add(lockTime); ; {
		err := conn.QueryRow(ctx, query, conductorLock).Scan(&free)
		if err != nil || free || time.Now().After(end) {
			return free, err
		}
		if err := pause(ctx, shortestWait); err != nil {
			return false, err
		}
	}
}

func (l *leadership) taken(ctx context.Context) error {
	return fmt.Errorf("%w: expected its lock to be free, found it held by %s; stop that conductor first", ErrInUse,
		l.holder(ctx))
}

// holder describes the conductor that has the lock, as far as the database knows it.
func (l *leadership) holder(ctx context.Context) string {
	var pid int
	var since time.Time
	var from string
	err := l.conn.QueryRow(ctx, `SELECT a.pid, a.backend_start, coalesce(host(a.client_addr), 'a socket of the server')
		FROM pg_locks k JOIN pg_stat_activity a USING (pid) WHERE k.locktype = 'advisory' AND k.granted
		AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND k.classid = $1 AND k.objsubid = 2
		AND k.objid::bigint = (hashtext(current_schema())::bigint & 4294967295) LIMIT 1`, conductorLock).Scan(&pid, &since, &from)
	if err != nil {
		return "a connection that has just ended"
	}
	return fmt.Sprintf("a connection from %s since %s (server process %d)", from, since.UTC().Format(time.RFC3339), pid)
}

// begin begins an epoch. It waits for pending writes of the last epoch.
func (l *leadership) begin(ctx context.Context) error {
	host, _ := os.Hostname()
	// A cluster's leader that was cut off must not write beside this conductor, in any group.
	err := l.conn.QueryRow(ctx, `WITH ended AS (UPDATE leader SET epoch = epoch + 1, holder = $1, until = 'infinity'
		RETURNING conductor_group, epoch) SELECT epoch FROM ended WHERE conductor_group = ''`,
		fmt.Sprintf("%s, process %d", host, os.Getpid())).Scan(&l.epoch)
	if err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	l.end = end
	go l.watch(watching)
	return nil
}

// look asks for a look at the connection.
func (l *leadership) look() {
	select {
	case l.now <- struct{}{}:
	default:
	}
}

func (l *leadership) watch(ctx context.Context) {
	defer close(l.ended)
	wait := lookEvery
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.now:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
		if pause(ctx, shortestWait) != nil { // many writes may ask at once
			return
		}
		switch err := l.check(ctx); {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrSuperseded):
			l.set(err)
			return
		case err != nil:
			l.set(err)
			wait = min(max(2*wait, 100*time.Millisecond), longestWait)
		default:
			l.set(nil)
			wait = lookEvery
		}
	}
}

// check checks that the lock is held and the epoch lasts. It connects again where the
// connection was lost.
func (l *leadership) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if l.conn.IsClosed() {
		conn, err := pgx.ConnectConfig(ctx, l.config)
		if err != nil {
			return err
		}
		l.conn = conn
		if err := l.lock(ctx); err != nil && !errors.Is(err, ErrInUse) {
			return err
		} else if err != nil { // the server may not know yet that our last connection is gone
			return errors.Join(l.same(ctx), err, conn.Close(ctx))
		}
	}
	return l.same(ctx)
}

// same checks the epoch.
func (l *leadership) same(ctx context.Context) error {
	var epoch int64
	if err := l.conn.QueryRow(ctx, "SELECT epoch FROM leader WHERE conductor_group = ''").Scan(&epoch); err != nil {
		return errors.Join(err, l.conn.Close(ctx))
	}
	if epoch != l.epoch {
		return l.superseded()
	}
	return nil
}

func (l *leadership) superseded() error {
	l.look()
	return fmt.Errorf("%w; it began after the epoch %d; stop this conductor", ErrSuperseded, l.epoch)
}

// set records whether the database can be used, and reports a change to the caller of lead.
func (l *leadership) set(err error) {
	l.mu.Lock()
	changed := (l.err == nil) != (err == nil) || errors.Is(err, ErrSuperseded)
	l.err = err
	l.mu.Unlock()
	if changed {
		l.report(err)
	}
}

// state is why the database cannot be used at the moment, nil when it can.
func (l *leadership) state() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *leadership) term() (group string, epoch int64) { return "", l.epoch }

// over never ends: a conductor without a cluster ends by itself.
func (l *leadership) over() context.Context { return context.Background() }

// close gives the database back.
func (l *leadership) close() error {
	if l.end != nil {
		l.end()
		<-l.ended
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	return l.conn.Close(ctx)
}
