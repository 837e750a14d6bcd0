package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// committers write revisions of nodes one after the other, and remember the acknowledged ones.
type committers struct {
	s            *store.Database
	saved        []node.Node
	acknowledged atomic.Int64
	uncertain    atomic.Int64
	last         atomic.Int64 // time of the last acknowledgement, in nanoseconds
	end          atomic.Bool
	all          sync.WaitGroup
}

func commit(t *testing.T, s *store.Database, workers int) *committers {
	t.Helper()
	c := &committers{s: s, saved: make([]node.Node, workers)}
	for i := range c.saved {
		n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(i)}})
		if err != nil {
			t.Fatal(err)
		}
		c.saved[i] = n
		c.all.Go(func() { c.run(t, i) })
	}
	return c
}

func (c *committers) run(t *testing.T, i int) {
	for !c.end.Load() {
		n := c.saved[i]
		n.Name = fmt.Sprintf("%d-%d", i, n.Revision)
		after, err := c.s.Commit(t.Context(), node.Change{Save: &n})
		if errors.Is(err, store.ErrUncertain) {
			c.uncertain.Add(1)
			if after, err = c.s.Node(t.Context(), n.UUID); err == nil && after.Revision < c.saved[i].Revision {
				t.Errorf("worker %d: revision %d is there, %d was acknowledged", i, after.Revision, c.saved[i].Revision)
				return
			}
		}
		if err != nil {
			t.Errorf("worker %d at revision %d: %v", i, n.Revision, err)
			return
		}
		c.saved[i] = after
		c.acknowledged.Add(1)
		c.last.Store(time.Now().UnixNano())
	}
}

// more waits for some acknowledgements more.
func (c *committers) more(t *testing.T) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for want := c.acknowledged.Load() + int64(2*len(c.saved)); c.acknowledged.Load() < want && !t.Failed(); {
		if time.Now().After(end) {
			t.Fatal("no write is acknowledged any more")
		}
		time.Sleep(time.Millisecond)
	}
}

// check ends the workers, and checks that the newest revision that was acknowledged is there.
func (c *committers) check(t *testing.T) {
	t.Helper()
	c.end.Store(true)
	c.all.Wait()
	for i, want := range c.saved {
		got, err := c.s.Node(t.Context(), want.UUID)
		if err != nil || got.Revision != want.Revision || got.Name != want.Name {
			t.Errorf("worker %d: revision %d, name %q, %v; acknowledged was revision %d", i, got.Revision, got.Name, err,
				want.Revision)
		}
	}
}

// TestPostgresFailsOver: the server is killed under load, and its synchronous standby takes over. Everything that was
// acknowledged is there.
func TestPostgresFailsOver(t *testing.T) {
	first := postgrestest.New(t)
	address := first.URL(t)
	second := first.Standby(t, true)
	s := openPostgres(t, first.Either(t, address, second), store.PostgresOptions{Patience: 2 * time.Minute})
	c := commit(t, s, 8)
	c.more(t)
	if err := first.Stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	second.Promote(t)
	promoted := time.Now()
	c.more(t)
	awaitReady(t, s)
	waited := time.Since(promoted)
	c.check(t)
	t.Logf("%d writes acknowledged, %d uncertain; promoted %s after the kill, written again within %s",
		c.acknowledged.Load(), c.uncertain.Load(), promoted.Sub(killed).Round(time.Millisecond),
		waited.Round(time.Millisecond))
}

// TestCommitLostInFailover: a commit is cut off, and the server that takes over has never heard of it. Another
// transaction has its number there by then. The write is not acknowledged.
func TestCommitLostInFailover(t *testing.T) {
	first := postgrestest.New(t)
	address := first.URL(t)
	c := &cutter{}
	near := c.listen(t, address)
	second := first.Standby(t, false)
	s := openPostgres(t, near, store.PostgresOptions{Patience: time.Minute})
	n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(1)}})
	if err != nil {
		t.Fatal(err)
	}
	second.StopFollowing(t)
	cut := make(chan struct{})
	c.move(func() string {
		select {
		case <-cut:
		default:
			close(cut)
		}
		return "" // nowhere yet
	})
	c.before.Store(true)
	n.Name = "lost"
	done := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.WithoutCancel(t.Context()), node.Change{Save: &n})
		done <- err
	}()
	<-cut
	if err := first.Stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	second.Promote(t)
	second.Run(t, "DO $$ BEGIN FOR i IN 1..200 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
	c.move(func() string { return c.socket(t, second.Of(t, address)) })
	if err := <-done; !errors.Is(err, store.ErrUncertain) {
		t.Errorf("the write ended with %v, want %v", err, store.ErrUncertain)
	}
}

// TestCommitLostInCrash: a commit is cut off, and the server crashes before it has written anything of it. Another
// transaction has its number then. The write is acknowledged only where it is done.
func TestCommitLostInCrash(t *testing.T) {
	for name, later := range map[string]string{
		"the number is free":   "",
		"the number was given": "DO $$ BEGIN FOR i IN 1..200 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
	} {
		t.Run(name, func(t *testing.T) {
			server := postgrestest.New(t, "wal_writer_delay=10s")
			address := server.URL(t)
			c := &cutter{}
			s := openPostgres(t, c.listen(t, address), store.PostgresOptions{Patience: time.Minute})
			n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(1)}})
			if err != nil {
				t.Fatal(err)
			}
			cut := make(chan struct{})
			var once sync.Once
			c.move(func() string {
				once.Do(func() { close(cut) })
				return "" // nowhere yet
			})
			c.before.Store(true)
			n.Name = "lost"
			done := make(chan error, 1)
			go func() {
				_, err := s.Commit(context.WithoutCancel(t.Context()), node.Change{Save: &n})
				done <- err
			}()
			<-cut
			if err := errors.Join(server.Stop(syscall.SIGQUIT), server.Start()); err != nil {
				t.Fatal(err)
			}
			if later != "" {
				conn, err := pgx.Connect(t.Context(), address)
				if err != nil {
					t.Fatal(err)
				}
				_, err = conn.Exec(t.Context(), later)
				if err := errors.Join(err, conn.Close(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
			c.move(func() string { return c.socket(t, address) })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if got, err := s.Node(t.Context(), n.UUID); err != nil || got.Name != "lost" || got.Revision != n.Revision+1 {
				t.Errorf("acknowledged was the name %q, there is %q of revision %d (%v)", n.Name, got.Name, got.Revision, err)
			}
		})
	}
}
