package servetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/spf13/cobra"
)

// processVariable makes `ferrite serve` of a test binary.
const processVariable = "FERRITE_TEST_CONDUCTOR"

// Main is for TestMain of tests that start processes: it runs the tests, or cmd, `ferrite serve`, where the test binary
// was started as a conductor.
func Main(cmd *cobra.Command, tests func() int) int {
	if os.Getenv(processVariable) == "" {
		return tests()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Process is a conductor in a process of its own, which can be killed.
type Process struct {
	Conductor
	cmd  *exec.Cmd
	over chan struct{}
}

// StartProcess starts the test binary as a conductor for fake hardware; Main must be its TestMain. The process is
// killed when the test ends.
func StartProcess(t testing.TB, dir string, args ...string) *Process {
	t.Helper()
	p := &Process{over: make(chan struct{})}
	p.Log, p.Ended = &apitest.Log{}, make(chan error, 1)
	p.cmd = exec.Command(os.Args[0], serveArgs(dir, slices.Concat(near, args))...) //nolint:gosec // this binary
	p.cmd.Env = append(os.Environ(), processVariable+"=1")
	p.cmd.Stdout, p.cmd.Stderr = p.Log, p.Log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is of the thread that starts a process
		defer runtime.UnlockOSThread()
		defer close(p.over)
		err := p.cmd.Start()
		began <- err
		if err == nil {
			p.Ended <- errors.Join(errors.New("the process has ended"), p.cmd.Wait())
		}
	}()
	if err := <-began; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := p.Ready(); err != nil {
		t.Fatalf("%v\n%s", err, p.Log)
	}
	return p
}

// Kill kills the conductor, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	select {
	case <-p.over:
	case <-time.After(Patience):
	}
}

// Freeze stops the conductor where it is, until Thaw. Its connections stay.
func (p *Process) Freeze(t testing.TB) { p.signal(t, syscall.SIGSTOP) }

// Thaw lets a frozen conductor go on.
func (p *Process) Thaw(t testing.TB) { p.signal(t, syscall.SIGCONT) }

func (p *Process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
