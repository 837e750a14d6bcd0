package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// cutVariable makes a conductor of the test binary, and says where it dies.
const cutVariable = "CONDUCTOR_CUT"

func TestMain(m *testing.M) {
	if at, ok := os.LookupEnv(cutVariable); ok {
		if err := conductMortal(at, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(postgrestest.Main(m))
}

// moment is where a kill -9 meets a write.
type moment string

const (
	never  moment = "never"
	before moment = "before" // nothing of it is written
	amid   moment = "amid"   // the database is at it: it is written or it is not
	after  moment = "after"  // it is written, and not acknowledged
)

// cut is one point of a conductor's life: its nth write, of all or of those that
// are described so.
type cut struct {
	moment moment
	nth    int
	write  string // "" for all
}

func (c cut) String() string { return fmt.Sprintf("%s %d %s", c.moment, c.nth, c.write) }

// parseCut reads the result of String.
func parseCut(text string) (c cut, err error) {
	if _, err := fmt.Sscan(text, &c.moment, &c.nth); err != nil {
		return c, fmt.Errorf("%s=%q: %w", cutVariable, text, err)
	}
	c.write = strings.SplitN(text, " ", 3)[2]
	return c, nil
}

// conductMortal is `ferrite serve` with a store that kills the process. It ends
// with its standard input, so that it does not outlive the test.
func conductMortal(at string, args []string) error {
	c, err := parseCut(at)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return serve.RunWithStore(ctx, args, os.Stderr,
		func(ctx context.Context, dir string) (serve.Database, func() error, error) {
			keys, err := serve.Keys(dir)
			if err != nil {
				return nil, nil, err
			}
			m := &mortal{cut: c, diary: os.Stdout}
			// Writes that the kernel has outlive a process: flushing them to the disk would only make the test slow.
			db, err := m.open(ctx, dir, store.Options{NoSync: true, Keys: keys})
			if err != nil {
				return nil, nil, err
			}
			m.Database = db
			return m, db.Close, nil
		})
}

// open opens the database in the folder, or on the server that a variable names.
func (m *mortal) open(ctx context.Context, dir string, o store.Options) (*store.Database, error) {
	if address := os.Getenv(databaseVariable); address != "" {
		return m.openServer(ctx, address, o)
	}
	path := filepath.Join(dir, "ferrite.db")
	wal := path + "-wal"
	m.dieOver = func(do func() string) { dieOverFile(wal, do) }
	return store.Open(ctx, path, o)
}

// mortal is a store that ends its process at one of its writes. It keeps a diary of the writes it survived, a line
// each.
type mortal struct {
	serve.Database
	cut   cut
	diary io.Writer
	// dieOver dies while the database does a write.
	dieOver func(do func() (went string))

	mu     sync.Mutex
	writes int // of those that the cut counts
}

// write does one write, or dies over it. Writes come one at a time, so that the diary has the order of the count. The
// part known before the write identifies it. The outcome follows in the diary.
func (m *mortal) write(known string, do func() (went string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	when := never
	if m.cut.write == "" || m.cut.write == known {
		if m.writes++; m.writes == m.cut.nth {
			when = m.cut.moment
		}
	}
	if when == before {
		die()
	}
	if when == amid {
		m.dieOver(do)
	}
	fmt.Fprintln(m.diary, known+do())
	if when == after {
		die()
	}
}

// dieOverFile dies as soon as SQLite has begun to write. Others can see that write before, but no later write succeeds:
// the mortal is locked.
func dieOverFile(wal string, do func() string) {
	done := make(chan struct{})
	was := sizeOf(wal)
	go func() {
		defer close(done)
		do()
	}()
	for sizeOf(wal) == was {
		select {
		case <-done: // the log was begun anew, and is no longer than before
			die()
		default:
		}
	}
	die()
}

func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// die is kill -9 by the process itself, from which nothing returns.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (m *mortal) Commit(ctx context.Context, c node.Change) (n node.Node, err error) {
	m.write("commit: "+described(c), func() string {
		n, err = m.Database.Commit(ctx, c)
		return failed(err)
	})
	return n, err
}

func (m *mortal) Release(ctx context.Context, e node.Effect, at time.Time, why string) (err error) {
	m.write("release: "+e.Name, func() string {
		err = m.Database.Release(ctx, e, at, why)
		return failed(err)
	})
	return err
}

// claiming begins the diary's line of a claim. The rest of the line is known only after the write.
const claiming = "claim: "

func (m *mortal) Claim(ctx context.Context, owner string, now time.Time, lease time.Duration,
	nodes []string) (got []node.Effect, err error) {
	m.write(claiming, func() string {
		got, err = m.Database.Claim(ctx, owner, now, lease, nodes)
		return strings.Join(names(got), ", ") + failed(err)
	})
	return got, err
}

func (m *mortal) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) (err error) {
	m.write("documents: "+documents(writes), func() string {
		err = m.Database.WriteObjects(ctx, writes, done)
		return failed(err)
	})
	return err
}

// documents describes the writes of documents, for the table: of a host its state.
func documents(writes []objects.Write) string {
	var parts []string
	for _, w := range writes {
		var h hostapi.Host
		switch what := w.String(); {
		case w.Delete:
			parts = append(parts, "no "+what)
		case w.Expect == 0:
			parts = append(parts, "new "+what)
		case w.Kind == hostapi.KindHost && json.Unmarshal(w.Doc, &h) == nil:
			parts = append(parts, fmt.Sprintf("%s, %s", what, cmp.Or(h.Status.Provisioning.State, "no state")))
		default:
			parts = append(parts, what)
		}
	}
	return strings.Join(parts, "; ")
}

// described describes a change's writes, for the table.
func described(c node.Change) string {
	var parts []string
	if c.Insert != nil {
		parts = append(parts, "new node")
	}
	if c.Delete != "" {
		parts = append(parts, "no node")
	}
	if len(c.AddPorts)+len(c.SavePorts) > 0 {
		parts = append(parts, "a port")
	}
	if c.Finish != nil {
		parts = append(parts, c.Finish.Name+" done")
	}
	for _, m := range c.Moves {
		parts = append(parts, fmt.Sprintf("%s > %s", m.From, m.To))
	}
	for _, name := range names(c.Effects) {
		parts = append(parts, "owes "+name)
	}
	if len(parts) == 0 {
		return "an edit"
	}
	return strings.Join(parts, ", ")
}

func names(effects []node.Effect) (out []string) {
	for _, e := range effects {
		out = append(out, e.Name)
	}
	return out
}

func failed(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
