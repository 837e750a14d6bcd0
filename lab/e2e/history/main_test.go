//go:build cluster

package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// memberVariable makes `ferrite serve` of the test binary.
const memberVariable = "HISTORY_MEMBER"

// insideVariable makes the tests run in a network of their own.
const insideVariable = "HISTORY_NETWORK"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(memberVariable) != "":
	case os.Getenv(insideVariable) == "":
		os.Exit(inOwnNetwork())
	default:
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "ip: %v: %s\n", err, out)
			os.Exit(1)
		}
		os.Exit(postgrestest.Main(m))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := serve.Command()
	c.SetArgs(os.Args[1:])
	if err := c.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the process ends here
	}
	os.Exit(0)
}

// inOwnNetwork runs the tests in a network namespace that ends with them: there, ways between conductors are cut.
func inOwnNetwork() int {
	runtime.LockOSThread()                          // Pdeathsig is of the thread that starts a process
	cmd := exec.Command(os.Args[0], os.Args[1:]...) //nolint:gosec // this binary
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests make a network namespace: run them as root:", err)
		return 1
	}
	return 0
}
