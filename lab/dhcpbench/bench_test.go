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

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

var (
	program = flag.String("ferrite", "bin/ferrite", "the conductor's program")
	only    = flag.String("only", "", "measure this server alone: ferrite, enrolled (its machines are) or kea")
	leases  = flag.Int("leases", 60000, "leases on record before the second measurement")
	rounds  = flag.Int("rounds", 1, "how often all are measured, one after the other")
	atATime = flag.Int("at-a-time", 256, "clients that ask at a time")
	during  = flag.Duration("time", 10*time.Second, "time of a measurement")
)

// inside marks the process that has a network namespace of its own.
const inside = "FERRITE_DHCPBENCH"

// TestMeasuredDHCP prints the rates of the conductor, with unknown and with enrolled machines, and of Kea.
func TestMeasuredDHCP(t *testing.T) {
	suitetest.Need(t, "bench-dhcp")
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", os.Args[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inside+"=1"), os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for range *rounds {
		for _, s := range []server{ferrite("ferrite", *program, 0), kea(), ferrite("enrolled", *program, 2**leases)} {
			if *only != "" && *only != s.name {
				continue
			}
			if err := measure(t.Context(), t.TempDir(), s); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

// measure starts a server on an empty store, and asks it with none and with many leases on record.
func measure(ctx context.Context, dir string, s server) error {
	r, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	defer r.end()
	l, err := newLoad()
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.await(ctx); err != nil {
		return err
	}
	if err := s.show(ctx, r, l); err != nil {
		return err
	}
	if more := *leases - l.done; more > 0 {
		l.ask(ctx, *atATime, time.Hour, more)
	}
	return s.show(ctx, r, l)
}

// show measures once, and prints the result.
func (s server) show(ctx context.Context, r *running, l *load) error {
	before := l.done
	used, err := r.cpu()
	if err != nil {
		return err
	}
	got := l.ask(ctx, *atATime, *during, 0)
	now, err := r.cpu()
	if err != nil {
		return err
	}
	fmt.Printf("%-8s %6d leases before: %6.0f clients/s, %.2f %% without an address, median %v, 99 %% within %v, "+
		"%v of a processor each\n", s.name, before, float64(got.done)/got.took.Seconds(),
		100*float64(got.lost)/float64(max(1, got.done+got.lost)), got.at(50), got.at(99),
		((now - used) / time.Duration(max(1, got.done))).Round(time.Microsecond))
	return ctx.Err()
}
