package store_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/conductor/store/storetest"
)

// TestPostgresRestarts: while the server is killed and started again, writes wait, and all that
// were acknowledged are there, once.
func TestPostgresRestarts(t *testing.T) {
	server := postgrestest.New(t)
	var mu sync.Mutex
	var told []error
	s := openPostgres(t, server.URL(t), store.PostgresOptions{Patience: 5 * time.Minute, Connection: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err)
	}})
	c := commit(t, s, 4)
	for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGINT} {
		c.more(t)
		if err := errors.Join(server.Stop(signal), server.Start()); err != nil {
			t.Fatal(err)
		}
		awaitReady(t, s)
	}
	c.more(t)
	c.check(t)
	if n := c.uncertain.Load(); n > 0 {
		t.Errorf("%d writes were uncertain, want none: the server was there again", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) < 2 || told[0] == nil || told[len(told)-1] != nil {
		t.Errorf("told of the connection: %v, want an error and then nil", told)
	}
}

// awaitReady waits until the store has noticed that its connection was lost, and is back.
func awaitReady(t *testing.T, s *store.Database) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := s.Shards(t.Context())
		if err == nil && s.Ready() == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not ready: %v, %v", s.Ready(), err)
		}
	}
}

// TestPostgresStaysAway: when the server does not come back, a write fails after its time, and
// the store says so.
func TestPostgresStaysAway(t *testing.T) {
	server := postgrestest.New(t)
	s := openPostgres(t, server.URL(t), store.PostgresOptions{Patience: 200 * time.Millisecond})
	if err := server.Stop(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	n := node.Node{UUID: uuidN(1)}
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err == nil {
		t.Error("a write was acknowledged")
	}
	if _, err := s.Nodes(t.Context(), node.Query{}); err == nil {
		t.Error("a read was answered")
	}
	for end := time.Now().Add(time.Minute); s.Ready() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the store is ready without a server")
		}
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, s)
	if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Error(err)
	}
}

// cutter passes bytes between a store and a server. Armed, it cuts the next COMMIT off: before
// it reached the server, or before its answer reached the store.
type cutter struct {
	server       atomic.Pointer[func() string] // the socket; "" for none
	before, then atomic.Bool
	late         func() (hold time.Duration, cut bool) // how an answer is delayed or cut off; nil for neither
}

// move has new connections go to another socket.
func (c *cutter) move(to func() string) { c.server.Store(&to) }

// socket is the socket of an address.
func (c *cutter) socket(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
}

func (c *cutter) listen(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q, dir, server := u.Query(), t.TempDir(), c.socket(t, address)
	c.move(func() string { return server })
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.pass(client)
		}
	}()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return u.String()
}

func (c *cutter) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", (*c.server.Load())())
	if err != nil {
		return
	}
	defer server.Close()
	go c.answer(client, server)
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		isCommit := bytes.Contains(buffer[:n], []byte("COMMIT\x00"))
		if isCommit && c.before.CompareAndSwap(true, false) {
			return
		}
		if isCommit && c.then.CompareAndSwap(true, false) {
			_ = client.Close()
			_, _ = server.Write(buffer[:n])
			_, _ = server.Read(buffer) // until it is done
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// answer passes the server's answers on.
func (c *cutter) answer(client, server net.Conn) {
	if c.late == nil {
		_, _ = io.Copy(client, server)
		return
	}
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			_ = client.Close()
			return
		}
		hold, cut := c.late()
		time.Sleep(hold)
		if cut {
			_ = client.Close()
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// TestCommitWithoutAnswer: after a cut-off COMMIT a write is acknowledged once it is known to be committed, and happens
// once.
func TestCommitWithoutAnswer(t *testing.T) {
	c := &cutter{}
	s := openPostgres(t, c.listen(t, postgrestest.URL(t)), store.PostgresOptions{Patience: time.Minute})
	n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(1)}})
	if err != nil {
		t.Fatal(err)
	}
	for what, armed := range map[string]*atomic.Bool{"before the server": &c.before, "before its answer": &c.then} {
		armed.Store(true)
		n.Name = what
		saved, err := s.Commit(t.Context(), node.Change{Save: &n})
		if err != nil || armed.Load() {
			t.Fatalf("cut off %s: %v, still armed %v", what, err, armed.Load())
		}
		got, err := s.Node(t.Context(), n.UUID)
		if err != nil || got.Name != what || got.Revision != n.Revision+1 || saved.Revision != got.Revision {
			t.Errorf("cut off %s: %+v, %v; want it saved once after revision %d", what, got, err, n.Revision)
		}
		n = saved
	}
}

// TestOneConductor: a database belongs to one conductor. A superseded one writes nothing.
func TestOneConductor(t *testing.T) {
	address := postgrestest.URL(t)
	told := make(chan error, 9)
	s := openPostgres(t, address, store.PostgresOptions{Connection: func(err error) { told <- err }})
	if second, err := store.OpenPostgres(t.Context(), address, store.PostgresOptions{}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second conductor: %v, %v, want %v", second, err, store.ErrInUse)
	}
	n, err := s.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuidN(1)}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE leader SET epoch = epoch + 1"); err != nil {
		t.Fatal(err)
	}
	n.Name = "late"
	if _, err := s.Commit(t.Context(), node.Change{Save: &n}); !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("a late write: %v, want %v", err, store.ErrSuperseded)
	}
	if err := <-told; !errors.Is(err, store.ErrSuperseded) || !errors.Is(s.Ready(), store.ErrSuperseded) {
		t.Errorf("told %v, ready %v, want %v", err, s.Ready(), store.ErrSuperseded)
	}
	var name string
	if err := errors.Join(conn.QueryRow(t.Context(), "SELECT name FROM nodes").Scan(&name),
		conn.Close(t.Context())); err != nil || name != "" {
		t.Errorf("the node is named %q (%v)", name, err)
	}
}

// TestMachinesOnPostgres: concurrent transactions store one node of a machine.
func TestMachinesOnPostgres(t *testing.T) {
	s := openPostgres(t, postgrestest.URL(t), store.PostgresOptions{})
	storetest.RaceMachines(t, s)
}
