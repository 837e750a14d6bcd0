// Command e2e is the end-to-end test: real DHCP packets, real QEMU machines,
// real disks. Each case is a site of its own (a lab with a conductor in a
// network namespace); the list is in cases.go. It needs root. With -interop the
// conductor is OpenStack Ironic; with -matrix the machines are of all kinds of
// hardware, and the ramdisk is the one for real servers.
//
// Its last line says how it went, for people and scripts alike.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	only := flag.String("run", "", "run the cases that match this `regexp`")
	list := flag.Bool("list", false, "list the cases")
	bench := flag.Bool("bench", false, "run the measured cases alone and print their figures")
	strangers := flag.Bool("interop", false, "run the cases with OpenStack Ironic alone (Debian packages ironic-api, ironic-conductor)")
	hardware := flag.Bool("matrix", false, "run the cases of the hardware matrix alone, with the ramdisk of profile metal")
	atOnce := flag.Int("at-once", 2, "run this `many` cases at a time that are not measured")
	bin := flag.String("bin", "bin", "`folder` with the programs and, in ramdisk/, the ramdisk")
	keep := flag.Bool("keep", false, "keep the folders of cases that went well, too")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{only: *only, list: *list, bench: *bench, interop: *strangers, matrix: *hardware, bin: *bin, keep: *keep, atOnce: max(*atOnce, 1)}
	if err := run(ctx, o); err != nil {
		fmt.Printf("%s: failed: %v\n", o.label(), err)
		stop()
		os.Exit(1)
	}
}

// run runs the chosen cases: the measured ones alone, the others two at a
// time, since a machine room of two cores holds two machines.
func run(ctx context.Context, o options) error {
	measured, others, err := o.choose()
	if err != nil {
		return err
	}
	if o.list {
		for _, c := range append(measured, others...) {
			fmt.Printf("%-20s %s\n", c.name, c.why)
		}
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("network namespaces need root: run it as root")
	}
	b, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	defer b.tidy()
	start := time.Now()
	if o.bench {
		if err := errors.Join(b.benchConductor(ctx), b.benchLoad(ctx), b.benchLarge(ctx)); err != nil {
			return err
		}
	}
	if err := b.runAll(ctx, measured, 1); err != nil {
		return err
	}
	err = b.runAll(ctx, others, o.atOnce)
	if o.matrix {
		return b.tellMachines(others, time.Since(start))
	}
	if err != nil {
		return err
	}
	if o.bench {
		fmt.Printf("bench: enroll to booted with the agent kept running %.1f s\n", b.figures.fast.Seconds())
	}
	fmt.Printf("%d cases passed in %.1f s\n", len(measured)+len(others), time.Since(start).Seconds())
	if o.interop {
		fmt.Println(b.figures.interop())
		return nil
	}
	fmt.Println(b.figures.line())
	return nil
}
