package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is how a case went.
type outcome struct {
	name string
	dir  string // logs and consoles, kept when it failed
	laps []lap
	took time.Duration
	err  error
}

// lap is one part of a case and how long it took.
type lap struct {
	part string
	took time.Duration
}

// outcomes are those of the cases that have ended.
type outcomes struct {
	mu    sync.Mutex
	ended []outcome
}

func (o *outcomes) add(one outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, one)
}

// tellMachines ends a run of the matrix: a line for each machine, and the last
// line of all, which is an error unless all went well.
func (s *shared) tellMachines(list []testCase, took time.Duration) error {
	lines, last, ok := summary(list, s.outcomes.ended, took)
	fmt.Println(strings.Join(lines, "\n"))
	if !ok {
		return errors.New(last)
	}
	fmt.Printf("%s: %s\n", s.label(), last)
	return nil
}

// line reports one case: of a failed one, which parts passed.
func (o outcome) line() string {
	parts := make([]string, 0, len(o.laps))
	for _, l := range o.laps {
		parts = append(parts, fmt.Sprintf("%s %.1f s", l.part, l.took.Seconds()))
	}
	done := strings.Join(parts, ", ")
	if o.err != nil {
		return fmt.Sprintf("%-22s FAILED in %.1f s: %s", o.name, o.took.Seconds(), cmp.Or(done, "nothing done"))
	}
	return fmt.Sprintf("%-22s ok in %.1f s: %s", o.name, o.took.Seconds(), done)
}

// summary is a line for each case that was to run, in their order, and the end of the last
// line of all; ok reports whether all passed.
func summary(list []testCase, outcomes []outcome, took time.Duration) (lines []string, last string, ok bool) {
	var failed []string
	for _, c := range list {
		i := slices.IndexFunc(outcomes, func(o outcome) bool { return o.name == c.name })
		if i < 0 {
			lines = append(lines, fmt.Sprintf("%-22s NOT RUN", c.name))
			failed = append(failed, c.name+" (not run)")
			continue
		}
		lines = append(lines, outcomes[i].line())
		if outcomes[i].err != nil {
			failed = append(failed, fmt.Sprintf("%s (its logs and consoles: %s)", c.name, outcomes[i].dir))
		}
	}
	if len(failed) == 0 {
		return lines, fmt.Sprintf("ok %d machines in %.0f s", len(list), took.Seconds()), true
	}
	return lines, fmt.Sprintf("%d of %d machines in %.0f s: %s", len(failed), len(list), took.Seconds(), strings.Join(failed, ", ")), false
}
