package openstack

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
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

// service is a program of a Debian package, with a folder of its own.
type service struct {
	name    string // in errors, and of its configuration file without the .conf
	at      Place
	dir     string
	address string   // host:port where it listens; "" for none
	env     []string // more of the environment of its programs
	cmd     *exec.Cmd
}

// newService makes a service in a folder, with an address of its own. A package of Debian's has its program.
func newService(at Place, name, debian, program, dir string) (service, error) {
	s := service{name: name, at: at, dir: dir}
	if err := installed(debian, program); err != nil {
		return s, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, fmt.Errorf("folder of %s: %w", name, err)
	}
	var err error
	s.address, err = s.freeAddress()
	return s, err
}

// installed checks that a program of a package of Debian's is there.
func installed(debian, program string) error {
	if _, err := os.Stat(executable(program)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: install Debian's package %s", executable(program), debian)
	}
	return nil
}

// programs is where Debian has most of them.
const programs = "/usr/bin"

// executable is the path of a program, which is named by it or by its name in programs.
func executable(program string) string {
	if filepath.IsAbs(program) {
		return program
	}
	return filepath.Join(programs, program)
}

func (s *service) file(name string) string { return filepath.Join(s.dir, name) }

func (s *service) config() string { return s.file(s.name + ".conf") }

// configure writes the service's configuration.
func (s *service) configure(text string) error {
	if err := os.WriteFile(s.config(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure %s: %w", s.name, err)
	}
	return nil
}

// connects reports whether something takes connections at the service's address.
func (s *service) connects() error {
	c, err := s.at.Dial(context.Background(), "tcp", s.address)
	if err != nil {
		return err //nolint:wrapcheck // startUntil says more
	}
	return c.Close() //nolint:wrapcheck // as above
}

// command is a program of the service's. It ends when the test is killed.
func (s *service) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, executable(name), args...) //nolint:gosec // Debian's own
	cmd.Dir = s.dir
	cmd.Env = append([]string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + s.dir, "LC_ALL=C.UTF-8"}, s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd
}

// run runs a program with the service's configuration to its end.
func (s *service) run(ctx context.Context, name string, args ...string) error {
	return s.finish(s.command(ctx, name, append([]string{"--config-file", s.config()}, args...)...))
}

// finish runs a command to its end.
func (s *service) finish(cmd *exec.Cmd) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := s.at.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out.Bytes())
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

// start runs a program, and waits until it answers HTTP at the service's address.
func (s *service) start(ctx context.Context, name string, args ...string) error {
	client := client(s.at)
	return s.startUntil(ctx, func() error {
		resp, err := client.Get("http://" + s.address) //nolint:noctx // bounded by startUntil
		if err != nil {
			return err //nolint:wrapcheck // startUntil says more
		}
		return resp.Body.Close() //nolint:wrapcheck // as above
	}, name, args...)
}

// startUntil runs a program, and waits until it is ready.
func (s *service) startUntil(ctx context.Context, ready func() error, name string, args ...string) error {
	log, err := os.OpenFile(s.file(filepath.Base(name)+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	defer log.Close()
	s.cmd = s.command(context.WithoutCancel(ctx), name, args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.at.Start(s.cmd); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	for end := time.Now().Add(startTime); ; time.Sleep(100 * time.Millisecond) {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("%s is not ready: %w\n%s", name, err, text), s.Stop())
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

// freeAddress is an address of the loopback without a listener.
func (s *service) freeAddress() (string, error) {
	l, err := s.at.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port for %s: %w", s.name, err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
