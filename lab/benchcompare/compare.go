package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// turns are the values of one figure, one for each turn.
type turns struct {
	here, base []float64
	more       bool
}

// compare prints the ratios of all figures; its error names those that are worse than they may be.
func compare(ctx context.Context, o options) (err error) {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-compare-")
	if err != nil {
		return err
	}
	base := filepath.Join(dir, "base")
	defer func() {
		remove := exec.Command("git", "worktree", "remove", "--force", base) // also after the context has ended
		err = errors.Join(err, remove.Run(), os.RemoveAll(dir))
	}()
	if _, err := output(ctx, here, "git worktree add --detach --quiet "+base+" "+o.base); err != nil {
		return fmt.Errorf("%s: %w; expected a commit of this repository", o.base, err)
	}
	ours, err := benchLines(ctx, here)
	if err != nil {
		return err
	}
	theirs, err := benchLines(ctx, base)
	if err != nil {
		return err
	}
	parts := pairs(ours, theirs, o)
	if len(parts) == 0 || len(parts[0].ours) == 0 || len(parts[0].theirs) == 0 {
		return fmt.Errorf("-only %q matches no line of both: %q, %q", o.only, ours, theirs)
	}
	var worse []string
	for _, pair := range parts {
		w, err := pair.compare(ctx, here, base, o)
		if err != nil {
			return err
		}
		worse = append(worse, w...)
	}
	if len(worse) > 0 {
		return fmt.Errorf("%d figures are below %.2f of %s: %s", len(worse), o.least, o.base, strings.Join(worse, "; "))
	}
	fmt.Printf("bench-compare: ok, no figure below %.2f of %s\n", o.least, o.base)
	return nil
}

// benchLines builds a tree and returns the commands of its `make bench`.
func benchLines(ctx context.Context, tree string) ([]string, error) {
	if _, err := output(ctx, tree, "make deps build ramdisk"); err != nil {
		return nil, err
	}
	text, err := output(ctx, tree, "make -n -s bench -o deps -o build -o ramdisk")
	return strings.Split(strings.TrimSpace(text), "\n"), err
}

// A pair is a part of `make bench`: the commands of both trees that print the same figures.
type pair struct{ ours, theirs []string }

// pairs are the parts. Where both Makefiles have the same number of lines each is a part, so that the turns are short.
func pairs(ours, theirs []string, o options) (list []pair) {
	match := func(line string) bool { return o.only.MatchString(line) }
	if len(ours) != len(theirs) {
		miss := func(line string) bool { return !match(line) }
		return []pair{{slices.DeleteFunc(slices.Clone(ours), miss), slices.DeleteFunc(slices.Clone(theirs), miss)}}
	}
	for i := range ours {
		if match(ours[i]) {
			list = append(list, pair{ours[i : i+1], theirs[i : i+1]})
		}
	}
	return list
}

// compare runs a part in turns. It has as many turns again where a figure is worse: other work may have been the cause.
func (p pair) compare(ctx context.Context, here, base string, o options) (worse []string, err error) {
	var names []string
	found := map[string]*turns{}
	run := func(tree string, lines []string, of func(*turns) *[]float64) error {
		for _, line := range lines {
			text, err := output(ctx, tree, line)
			if err != nil {
				return err
			}
			for _, f := range figuresOf(text) {
				if found[f.name] == nil {
					names = append(names, f.name)
					found[f.name] = &turns{more: f.more}
				}
				values := of(found[f.name])
				*values = append(*values, f.value)
			}
		}
		return nil
	}
	for again := 0; again < 2 && (again == 0 || len(worse) > 0); again++ {
		for range o.rounds {
			err := run(base, p.theirs, func(t *turns) *[]float64 { return &t.base })
			if err == nil {
				err = run(here, p.ours, func(t *turns) *[]float64 { return &t.here })
			}
			if err != nil {
				return nil, err
			}
		}
		worse = nil
		for _, name := range names {
			if r := found[name].ratios(); len(r) > 0 && r[len(r)/2] < o.least {
				worse = append(worse, fmt.Sprintf("%s (%.2f)", name, r[len(r)/2]))
			}
		}
	}
	for _, name := range names {
		fmt.Println(found[name].row(name))
	}
	return worse, nil
}

// ratios of this tree to the other, a turn each, in rising order; above 1 this tree is better.
func (t *turns) ratios() (list []float64) {
	for i := range min(len(t.here), len(t.base)) {
		if t.more {
			list = append(list, t.here[i]/t.base[i])
		} else {
			list = append(list, t.base[i]/t.here[i])
		}
	}
	slices.Sort(list)
	return list
}

// row is the median ratio of a figure, the least and the greatest one, and both medians.
func (t *turns) row(name string) string {
	r := t.ratios()
	if len(r) == 0 {
		return fmt.Sprintf("   -                  %s: only one of both prints it", name)
	}
	return fmt.Sprintf("%5.2f (%.2f to %.2f)  %s: %.4g, base %.4g", r[len(r)/2], r[0], r[len(r)-1], name, median(t.here),
		median(t.base))
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// output runs a line of a Makefile in a tree, and shows on standard error that it runs.
func output(ctx context.Context, tree, line string) (string, error) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", line)
	cmd.Dir = tree
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // benchmarks clean up after themselves
	cmd.WaitDelay = time.Minute
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	fmt.Fprintf(os.Stderr, "%6.1f s  %s: %s\n", time.Since(began).Seconds(), filepath.Base(tree), line)
	if err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s%s", line, tree, err, tail(out.Bytes()), tail(complaints.Bytes()))
	}
	return out.String(), nil
}

// tail is the end of an output, which names the fault.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }
