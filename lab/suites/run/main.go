// Command run runs one suite of the table in lab/suites: its packages, its targets of make, its commands, and
// its last line at the end. It is `make e2e SUITE=NAME`.
//
// It must not know any suite.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suites"
)

func main() {
	deps := flag.Bool("deps", false, "install the Debian packages of a suite, of base or of npm, and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *deps:
		err = install(ctx, flag.Arg(0))
	case flag.NArg() == 0:
		list(os.Stdout)
	default:
		err = run(ctx, flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// list prints the table.
func list(w io.Writer) {
	for _, s := range suites.All {
		root := "    "
		if s.Root {
			root = "root"
		}
		fmt.Fprintf(w, "%-17s %s %6s  %s\n", s.Name, root, s.Takes, s.About)
	}
}

// run runs a suite in the top folder, and keeps its whole output in bin/suites.
func run(ctx context.Context, name string) error {
	s, found := suites.Find(name)
	if !found {
		return fmt.Errorf("there is no suite %q; `make suites` lists them", name)
	}
	if s.Root && os.Geteuid() != 0 {
		return fmt.Errorf("%s makes network namespaces and devices: run it as root", name)
	}
	if err := install(ctx, name); err != nil {
		return err
	}
	if s.Builds != "" {
		if err := command(ctx, os.Stdout, "make", strings.Fields(s.Builds)...); err != nil {
			return fmt.Errorf("%s needs `make %s`: %w", name, s.Builds, err)
		}
	}
	log := filepath.Join("bin", "suites", name+".log")
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return err
	}
	whole, err := os.Create(log)
	if err != nil {
		return err
	}
	defer whole.Close()
	began := time.Now()
	shown := &filter{to: os.Stdout, suite: s}
	err = command(ctx, io.MultiWriter(whole, shown), "bash", "-euo", "pipefail", "-c", s.Run)
	took := time.Since(began)
	if err == nil {
		err = shown.check()
	}
	if shown.last != "" || err == nil {
		fmt.Println(cmp.Or(shown.last, fmt.Sprintf("%s: ok %.0f s", name, took.Seconds())))
	}
	if err != nil {
		return fmt.Errorf("%s: failed after %.0f s, its whole output is in %s: %w", name, took.Seconds(), log, err)
	}
	return nil
}

// command runs a program in a process group of its own. When ctx ends the whole group is interrupted, as by a terminal,
// and command waits until its tests have removed their namespaces and machines.
func command(ctx context.Context, out io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	if err := cmd.Run(); err != nil {
		return cmp.Or(context.Cause(ctx), err) // which signal, rather than how the program took it
	}
	return nil
}
