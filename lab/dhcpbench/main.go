// Command dhcpbench measures how many new clients a second a DHCP server gives an address, and how many go without:
// this conductor's, and Debian's Kea beside it, each alone in a network namespace of its own, with durable leases and
// a link between. It needs root, and leaves nothing behind.
//
// It must not know of nodes or pools: it asks as a relay asks, and counts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// options is what the command line says.
type options struct {
	ferrite string        // the conductor's program
	only    string        // server; "" for both
	leases  int           // on record before the second measurement
	at      int           // clients at a time
	time    time.Duration // of a measurement
}

// inside marks the process that has a network namespace of its own.
const inside = "FERRITE_DHCPBENCH"

func main() {
	var o options
	flag.StringVar(&o.ferrite, "ferrite", "bin/ferrite", "the conductor's `program`")
	flag.StringVar(&o.only, "only", "", "measure this `server` alone: ferrite or kea")
	flag.IntVar(&o.leases, "leases", 60000, "leases on record before the second measurement")
	flag.IntVar(&o.at, "at-a-time", 256, "clients that ask at a time")
	flag.DurationVar(&o.time, "time", 10*time.Second, "time of a measurement")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "dhcpbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inside+"=1"), os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		return cmd.Run()
	}
	for _, s := range []server{ferrite(o.ferrite), kea()} {
		if o.only != "" && o.only != s.name {
			continue
		}
		if err := measure(ctx, o, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// measure starts a server on an empty store, and asks it with none and with many leases on record.
func measure(ctx context.Context, o options, s server) (err error) {
	dir, err := os.MkdirTemp("", "dhcpbench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
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
	show(before, l.ask(ctx, o.at, o.time, 0))
	if more := o.leases - l.done; more > 0 {
		l.ask(ctx, o.at, time.Hour, more)
	}
	before = l.done
	show(before, l.ask(ctx, o.at, o.time, 0))
	return ctx.Err()
}
