package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

var (
	binFlag  = flag.String("bin", "../../bin", "`folder` with the programs and, in ramdisk/, the ramdisk")
	keepFlag = flag.Bool("keep", false, "keep the folders of cases that passed, too")
	soloFlag = flag.Bool("solo", false, "run measured cases alone, for the sake of their figures")
)

// testCase is one scenario from begin to end. Its error says which stage failed and why.
type testCase struct {
	name  string
	limit time.Duration // on a machine without other work, see suitetest.Stretch
	run   func(ctx context.Context, b *bed) error
}

// measured runs a case that measures its times. With -solo it runs alone, before the others begin.
func measured(t *testing.T, profile string, c testCase) {
	if *soloFlag {
		run(t, profile, c)
		return
	}
	beside(t, profile, c)
}

// beside runs a case that other cases may run beside: as many as -parallel says.
func beside(t *testing.T, profile string, c testCase) {
	t.Parallel()
	run(t, profile, c)
}

func run(t *testing.T, profile string, c testCase) {
	t.Helper()
	s := suiteOf(t, profile)
	if s.ctx.Err() != nil {
		t.Skip("interrupted, or an earlier case has failed")
	}
	ctx, cancel := context.WithTimeout(s.ctx, bounded(t, suitetest.Stretch(t, c.limit)))
	defer cancel()
	start := time.Now()
	b := &bed{shared: s, name: c.name, dir: filepath.Join(s.dir, c.name), since: start}
	err := c.run(ctx, b)
	took := time.Since(start)
	if err != nil {
		s.failed()
		t.Fatalf("%s: after %.1f s%s: %v (its logs and consoles: %s)", c.name, took.Seconds(), b.parts(), err, b.dir)
	}
	say("%s: ok in %.1f s%s", c.name, took.Seconds(), b.parts())
	if *keepFlag {
		return
	}
	if err := os.RemoveAll(b.dir); err != nil {
		t.Error(err)
	}
}

// cleanUp is the time a case has to take its lab down before go test's own limit
// ends the process, which would leave machines and namespaces behind.
const cleanUp = time.Minute

// bounded is a case's limit, or less when the limit of go test comes earlier.
func bounded(t *testing.T, limit time.Duration) time.Duration {
	if end, ok := t.Deadline(); ok {
		return min(limit, time.Until(end)-cleanUp)
	}
	return limit
}

// lap is one part of a case and how long it took.
type lap struct {
	part string
	took time.Duration
}

// lap ends a part of the case, which began where the one before ended.
func (b *bed) lap(part string) {
	now := time.Now()
	b.laps, b.since = append(b.laps, lap{part, now.Sub(b.since)}), now
}

// parts lists the parts that have ended, after a colon.
func (b *bed) parts() string {
	if len(b.laps) == 0 {
		return ""
	}
	parts := make([]string, 0, len(b.laps))
	for _, l := range b.laps {
		parts = append(parts, fmt.Sprintf("%s %.1f s", l.part, l.took.Seconds()))
	}
	return ": " + strings.Join(parts, ", ")
}
