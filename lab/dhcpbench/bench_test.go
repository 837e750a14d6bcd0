//go:build dhcpbench

package dhcpbench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

var (
	program = flag.String("ferrite", "bin/ferrite", "the conductor's program")
	only    = flag.String("only", "", "measure this server alone: ferrite or kea")
	leases  = flag.Int("leases", 60000, "leases on record before the second measurement")
	atATime = flag.Int("at-a-time", 256, "clients that ask at a time")
	during  = flag.Duration("time", 10*time.Second, "time of a measurement")
)

// inside marks the process that has a network namespace of its own.
const inside = "FERRITE_DHCPBENCH"

// TestMeasuredDHCP prints the rates of both servers.
func TestMeasuredDHCP(t *testing.T) {
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", os.Args[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inside+"=1"), os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, s := range []server{ferrite(*program), kea()} {
		if *only != "" && *only != s.name {
			continue
		}
		if err := measure(t.Context(), t.TempDir(), s); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// measure starts a server on an empty store, and asks it with none and with many leases on record.
func measure(ctx context.Context, dir string, s server) error {
	end, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	defer end()
	l, err := newLoad()
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.await(ctx); err != nil {
		return err
	}
	show := func(before int, r result) {
		fmt.Printf("%-8s %6d leases before: %6.0f clients/s, %.2f %% without an address, median %v, 99 %% within %v\n",
			s.name, before, float64(r.done)/r.took.Seconds(), 100*float64(r.lost)/float64(max(1, r.done+r.lost)), r.at(50),
			r.at(99))
	}
	before := l.done
	show(before, l.ask(ctx, *atATime, *during, 0))
	if more := *leases - l.done; more > 0 {
		l.ask(ctx, *atATime, time.Hour, more)
	}
	before = l.done
	show(before, l.ask(ctx, *atATime, *during, 0))
	return ctx.Err()
}
