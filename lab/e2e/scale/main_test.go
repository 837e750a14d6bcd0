//go:build e2e

package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// Variables that make another program of the test binary.
const (
	memberVariable = "SCALE_MEMBER"  // `ferrite serve`; the file of its CPU profile
	insideVariable = "SCALE_NETWORK" // the tests, in a network of their own
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(memberVariable) != "":
		os.Exit(serving(os.Getenv(memberVariable)))
	case os.Getenv(insideVariable) == "":
		os.Exit(inOwnNetwork())
	}
	if err := wire(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(postgrestest.Main(m))
}

// inOwnNetwork runs the tests in a network namespace that ends with them: a hundred thousand BMCs have addresses of the
// loopback, and nothing of the host's network is touched.
func inOwnNetwork() int {
	runtime.LockOSThread() // Pdeathsig is of the thread that starts a process
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
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

// Links of the machines that boot: the conductors' end, and the machines'.
const (
	bootLink = "boot0"
	roomLink = "room0"
)

// wire makes the links. The range of ports lets each machine make many connections.
func wire() error {
	for _, args := range []string{
		"link set lo up",
		"link add " + bootLink + " type veth peer name " + roomLink,
		"link set " + bootLink + " up",
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", args, err, out)
		}
	}
	return nil
}

// serving is `ferrite serve`. SIGUSR1 begins a CPU profile and ends it.
func serving(profile string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	toggles := make(chan os.Signal, 2)
	signal.Notify(toggles, syscall.SIGUSR1)
	go profiles(profile, toggles)
	c := serve.Command()
	c.SetArgs(os.Args[1:])
	if err := c.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func profiles(path string, toggles <-chan os.Signal) {
	for range toggles {
		f, err := os.Create(path + ".part")
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		<-toggles
		pprof.StopCPUProfile()
		if err = errors.Join(err, f.Close(), os.Rename(path+".part", path)); err != nil {
			fmt.Fprintln(os.Stderr, "profile:", err)
		}
	}
}
