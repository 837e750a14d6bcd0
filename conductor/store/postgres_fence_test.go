package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// nextEpoch is how any takeover changes the epoch. Unlike Take it ends no connection: the fence must suffice.
const nextEpoch = "UPDATE leader SET epoch = epoch + 1 WHERE conductor_group = 'rack'"

// room is a group with a leader, and the connection of another member that takes over.
type room struct {
	address string
	other   *pgx.Conn
}

func newRoom(t *testing.T) *room {
	t.Helper()
	f := &room{address: postgrestest.URL(t)}
	m, err := OpenMembers(t.Context(), f.address, PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := m.Take(t.Context(), "rack", "first", time.Hour); err != nil || !ok {
		t.Fatalf("the first leader: %t, %v", ok, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if f.other, err = pgx.Connect(t.Context(), f.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.other.Close(context.Background()) })
	return f
}

// term opens the store of a leader of the present epoch.
func (f *room) term(t *testing.T) *Database {
	t.Helper()
	over, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	epoch := f.count(t, "SELECT epoch FROM leader WHERE conductor_group = 'rack'")
	s, err := OpenPostgres(t.Context(), f.address, PostgresOptions{Patience: time.Second,
		Term: &Term{Group: "rack", Epoch: int64(epoch), Over: over}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (f *room) count(t *testing.T, text string, args ...any) (n int) {
	t.Helper()
	if err := f.other.QueryRow(t.Context(), text, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (f *room) exec(t *testing.T, text string) {
	t.Helper()
	if _, err := f.other.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// waits waits until a session waits for the lock of an epoch.
func (f *room) waits(t *testing.T, done chan error) {
	t.Helper()
	const waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
	watch, err := pgx.Connect(t.Context(), f.address)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close(context.Background())
	for n := 0; n == 0; time.Sleep(time.Millisecond) {
		if err := watch.QueryRow(t.Context(), waiting).Scan(&n); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the other one: %v", err)
		default:
		}
	}
}

func nodeOfRack(uuid string) node.Change {
	return node.Change{Insert: &node.Node{UUID: uuid, ConductorGroup: "rack", ProvisionState: node.Enroll}}
}

// TestTakeoverWhileAWriteBegins: a takeover commits after a write has begun and before it looks at the epoch.
func TestTakeoverWhileAWriteBegins(t *testing.T) {
	f := newRoom(t)
	last := f.term(t)
	f.exec(t, "BEGIN")
	f.exec(t, nextEpoch)
	done := make(chan error, 1)
	go func() {
		_, err := last.Commit(t.Context(), nodeOfRack("late"))
		done <- err
	}()
	f.waits(t, done)
	f.exec(t, "COMMIT")
	if err := <-done; !errors.Is(err, ErrSuperseded) {
		t.Errorf("the late write: %v, want %v", err, ErrSuperseded)
	}
	if n := f.count(t, "SELECT count(*) FROM nodes"); n != 0 {
		t.Errorf("%d nodes were written by a leader that was deposed", n)
	}
	if _, err := f.term(t).Commit(t.Context(), nodeOfRack("next")); err != nil {
		t.Errorf("the next leader: %v", err)
	}
}

// TestTakeoverDuringAWrite: a takeover waits for a write that has looked at the epoch, and sees its rows.
func TestTakeoverDuringAWrite(t *testing.T) {
	f := newRoom(t)
	last := f.term(t)
	looked, goOn, wrote := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		wrote <- last.w.do(t.Context(), func(tx *tx) error {
			close(looked)
			<-goOn
			c := nodeOfRack("early")
			return tx.apply(&c, &node.Node{})
		})
	}()
	<-looked
	var seen int
	taken := make(chan error, 1)
	go func() {
		_, err := f.other.Exec(t.Context(), nextEpoch)
		taken <- errors.Join(err, f.other.QueryRow(t.Context(), "SELECT count(*) FROM nodes").Scan(&seen))
	}()
	f.waits(t, taken)
	close(goOn)
	if err := errors.Join(<-wrote, <-taken); err != nil || seen != 1 {
		t.Errorf("the next leader saw %d nodes (%v), want that of the write which began before it", seen, err)
	}
}

// TestTakeoversOfABusyLeader: of many writers none writes anything after an epoch has ended.
func TestTakeoversOfABusyLeader(t *testing.T) {
	f := newRoom(t)
	for epoch := range 12 {
		t.Run(fmt.Sprint(epoch), func(t *testing.T) { f.busy(t, fmt.Sprint(epoch)) })
	}
}

func (f *room) busy(t *testing.T, epoch string) {
	const lanes = 12
	s := f.term(t)
	var written atomic.Int64
	var all sync.WaitGroup
	for lane := range lanes {
		all.Go(func() {
			for i := 0; ; i++ {
				_, err := s.Commit(t.Context(), nodeOfRack(fmt.Sprintf("%s-%d-%d", epoch, lane, i)))
				if errors.Is(err, ErrSuperseded) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	for written.Load() < lanes && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	f.exec(t, nextEpoch)
	const ofEpoch = "SELECT count(*) FROM nodes WHERE uuid LIKE $1"
	atTakeover := f.count(t, ofEpoch, epoch+"-%")
	all.Wait()
	if after := f.count(t, ofEpoch, epoch+"-%"); after != atTakeover || int64(after) != written.Load() {
		t.Errorf("the takeover found %d nodes, then there were %d, and %d were acknowledged", atTakeover, after,
			written.Load())
	}
}

// TestEpochAtAnotherIsolation: the fence holds where the URL asks for snapshots of whole transactions.
func TestEpochAtAnotherIsolation(t *testing.T) {
	f := newRoom(t)
	f.address += "&default_transaction_isolation=repeatable%20read"
	last := f.term(t)
	f.exec(t, "BEGIN")
	f.exec(t, nextEpoch)
	done := make(chan error, 1)
	go func() {
		_, err := last.Commit(t.Context(), nodeOfRack("late"))
		done <- err
	}()
	f.waits(t, done)
	f.exec(t, "COMMIT")
	if err := <-done; !errors.Is(err, ErrSuperseded) {
		t.Errorf("the late write: %v, want %v", err, ErrSuperseded)
	}
}
