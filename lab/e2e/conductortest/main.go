package conductortest

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

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
)

// Variables that make another program of the test binary.
const (
	serveVariable   = "CONDUCTORTEST_SERVE"   // `ferrite serve`
	profileVariable = "CONDUCTORTEST_PROFILE" // the file of its CPU profile
	networkVariable = "CONDUCTORTEST_NETWORK" // the tests, in a network of their own
)

// Main is for TestMain: it runs the tests in a network namespace that ends with them, or `ferrite serve`, and returns the
// exit code. Each of the commands is for ip(8), and makes a part of the network before the tests begin.
func Main(tests func() int, commands ...string) int {
	switch {
	case os.Getenv(serveVariable) != "":
		return serving()
	case os.Getenv(networkVariable) == "":
		return inOwnNetwork()
	}
	for _, c := range append([]string{"link set lo up"}, commands...) {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "ip %s: %v: %s\n", c, err, out)
			return 1
		}
	}
	return tests()
}

func inOwnNetwork() int {
	runtime.LockOSThread()                          // Pdeathsig is of the thread that starts a process
	cmd := exec.Command(os.Args[0], os.Args[1:]...) //nolint:gosec // this binary
	cmd.Env = append(os.Environ(), networkVariable+"=1")
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

// serving is `ferrite serve`. SIGUSR1 begins a CPU profile and ends it.
func serving() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if path := os.Getenv(profileVariable); path != "" {
		toggles := make(chan os.Signal, 2)
		signal.Notify(toggles, syscall.SIGUSR1)
		go profiles(path, toggles)
	}
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
