package openstack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// startTime bounds the start of a service on a busy machine.
const startTime = 3 * time.Minute

// service is a program of OpenStack's with a folder of its own.
type service struct {
	name    string // of Debian's package
	dir     string
	address string // host:port where it listens; "" for none
	cmd     *exec.Cmd
}

// newService makes a service of a package that has a program.
func newService(name, program, dir string) (service, error) {
	if _, err := os.Stat(filepath.Join(programs, program)); errors.Is(err, fs.ErrNotExist) {
		return service{}, fmt.Errorf("%s/%s is missing: install Debian's package %s", programs, program, name)
	}
	address, err := freeAddress()
	return service{name: name, dir: dir, address: address}, err
}

// programs is where Debian has them.
const programs = "/usr/bin"

func (s *service) file(name string) string { return filepath.Join(s.dir, name) }

func (s *service) config() string { return s.file(s.name + ".conf") }

// configure writes the service's configuration.
func (s *service) configure(text string) error {
	if err := os.WriteFile(s.config(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure %s: %w", s.name, err)
	}
	return nil
}

// command is a program of the service's. It ends when the test is killed.
func (s *service) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(programs, name), args...) //nolint:gosec // Debian's own
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + s.dir, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd
}

// run runs a program with the service's configuration to its end.
func (s *service) run(ctx context.Context, name string, args ...string) error {
	cmd := s.command(ctx, name, append([]string{"--config-file", s.config()}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// writeAhead has SQLite let readers and a writer work side by side: without it services answer 500, "database is
// locked".
func (s *service) writeAhead(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", s.file(file))
	if err != nil {
		return fmt.Errorf("open the database of %s: %w", s.name, err)
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("journal of the database of %s: %w", s.name, err)
	}
	return nil
}

// start runs a program, and waits until it answers at the service's address.
func (s *service) start(ctx context.Context, name string, args ...string) error {
	log, err := os.OpenFile(s.file(s.name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	defer log.Close()
	s.cmd = s.command(context.WithoutCancel(ctx), name, args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	if s.address == "" {
		return nil
	}
	for end := time.Now().Add(startTime); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get("http://" + s.address) //nolint:noctx // bounded by the loop
		if err == nil {
			_ = resp.Body.Close()
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("no %s answers at %s: %w\n%s", s.name, s.address, err, text), s.Stop())
		}
	}
}

// Stop ends it, with the workers that it may have; its folder stays.
func (s *service) Stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	if err := syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
	return nil
}

// hostPort is the service's address in two parts.
func (s *service) hostPort() (host, port string) {
	host, port, _ = net.SplitHostPort(s.address) // our own
	return host, port
}

// freeAddress is one of the loopback that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
