// Package postgrestest runs a PostgreSQL server for tests: Debian's binaries, a folder and a socket of its own, no
// network. One server serves a test binary, and each test has a schema of its own in it,
// which is made faster than a database.
//
// A test binary that calls URL calls Main from TestMain, so that the server ends with it and leaves nothing behind. New
// starts a server for one test: where others look for goroutines that are left, or where the server is ended.
package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// startTime bounds a start of the server, on a machine with much else to do.
const startTime = time.Minute

// Server is a server of PostgreSQL.
type Server struct {
	bin, dir string
	settings []string
	process  *process
	made     atomic.Int64
}

var (
	shared     *Server
	sharedErr  error
	sharedOnce sync.Once
)

// Main runs the tests, and ends the server that they have started. It returns the exit status.
func Main(m interface{ Run() int }) int {
	status := m.Run()
	if shared != nil {
		if err := shared.close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(status, 1)
		}
	}
	return status
}

// URL makes an empty schema on the server that all tests of a binary share, and returns its address.
func URL(t testing.TB) string {
	t.Helper()
	sharedOnce.Do(func() { shared, sharedErr = start() })
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared.URL(t)
}

// New starts a server that ends with the test, which may stop and start it. Settings, such as fsync=on, replace those
// that make tests quick.
func New(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// URL makes an empty schema.
func (s *Server) URL(t testing.TB) string {
	t.Helper()
	name := "test" + strconv.FormatInt(s.made.Add(1), 10)
	conn, err := pgx.Connect(t.Context(), s.address())
	if err == nil {
		_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+name)
		err = errors.Join(err, conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.address() + "&search_path=" + name
}

func (s *Server) address() string {
	return "postgres://postgres@/postgres?host=" + url.QueryEscape(s.dir)
}

// start makes a server in a folder of its own.
func start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ferrite-postgres-") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, dir: dir, settings: settings}
	if os.Getuid() == 0 {
		err = os.Chown(dir, nobody, nobody)
	}
	if err == nil {
		err = s.init()
	}
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// binaries finds the programs of the newest version that is installed.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("expected PostgreSQL in /usr/lib/postgresql/*/bin, found none (%v): "+
			"install it: apt-get install postgresql", err)
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// nobody runs the server of a test that is root: it refuses to run as root.
const nobody = 65534

// command is a program of PostgreSQL's. It ends when the test binary is killed.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...) //nolint:gosec // PostgreSQL's own
	c.Dir, c.Env = s.dir, []string{"LC_ALL=C", "PATH=/usr/bin:/bin", "HOME=" + s.dir}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // an immediate shutdown
	if os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return c
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) init() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	out, err := s.command(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale",
		"--no-sync", "--no-instructions").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// process is a running server.
type process struct {
	command *exec.Cmd
	over    chan struct{}
	err     error
	log     bytes.Buffer
}

// quick are the settings of servers with throw-away data.
var quick = []string{
	"fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=32MB", "autovacuum=off",
	"max_wal_size=256MB", "log_min_messages=fatal",
}

// PID is the server's main process. Its children do the work.
func (s *Server) PID() int { return s.process.command.Process.Pid }

// Start starts the server, and waits until it answers.
func (s *Server) Start() error {
	p := &process{over: make(chan struct{})}
	args := []string{"-D", s.data(), "-k", s.dir, "-h", ""}
	for _, setting := range slices.Concat(quick, s.settings) {
		args = append(args, "-c", setting)
	}
	p.command = s.command(context.Background(), "postgres", args...)
	p.command.Stdout, p.command.Stderr = &p.log, &p.log
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is of the thread that starts a process: this one stays
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		began <- err
		if err == nil {
			p.err = p.command.Wait()
		}
		close(p.over)
	}()
	if err := <-began; err != nil {
		return err
	}
	s.process = p
	return s.answers()
}

func (s *Server) answers() error {
	for end := time.Now().Add(startTime); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithDeadline(context.Background(), end)
		conn, err := pgx.Connect(ctx, s.address())
		cancel()
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case <-s.process.over:
			return fmt.Errorf("postgres ended: %w: %s", s.process.err, s.process.log.String())
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("postgres does not answer: %w", err)
		}
	}
}

// Stop ends the server: SIGINT ends connections and closes the database, SIGQUIT is like a loss of power.
func (s *Server) Stop(signal syscall.Signal) error {
	if err := s.process.command.Process.Signal(signal); err != nil {
		return err
	}
	<-s.process.over
	return nil
}

func (s *Server) close() error {
	select {
	case <-s.process.over:
	default:
		if err := s.Stop(syscall.SIGQUIT); err != nil {
			return err
		}
	}
	return os.RemoveAll(s.dir)
}
