package audit

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// pruned verifies an audit as ferrite audit verify does.
func pruned(t *testing.T, r *Recorder, all []nodeapi.AuditLine) error {
	t.Helper()
	ends, err := r.Pruned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var c nodeapi.AuditCheck
	c.Begin(ends)
	for _, l := range all {
		if err := c.Add(l); err != nil {
			return err
		}
	}
	return c.Done()
}

// TestPrune: the rest can be verified after old entries of several chains were pruned, again and again. Entries missing
// beyond the cut are found, and so is a cut that no entry names.
func TestPrune(t *testing.T) {
	s := mem.New()
	now := time.Unix(1_700_000_000, 0)
	var r *Recorder
	for day := range 40 { // a new chain each fourth day, five entries a day, pruned each third
		now = now.Add(24 * time.Hour)
		if day%4 == 0 {
			var err error
			if r, err = Open(t.Context(), s, "c1", func() time.Time { return now }); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if err := r.Record(nodeapi.AuditEntry{Path: "/p"}); err != nil {
				t.Fatal(err)
			}
		}
		if day%3 == 0 {
			if _, err := r.Prune(t.Context(), now.Add(-10*24*time.Hour), "alice"); err != nil {
				t.Fatal(err)
			}
		}
		if err := pruned(t, r, lines(t, s)); err != nil {
			t.Fatalf("day %d: %v", day, err)
		}
	}
	all := lines(t, s)
	if len(all) > 13*5+8 {
		t.Errorf("%d entries are left of some 12 days", len(all))
	}
	for i := range len(all) - 1 {
		missing := append(append([]nodeapi.AuditLine(nil), all[:i]...), all[i+1:]...)
		if pruned(t, r, missing) == nil {
			t.Fatalf("that entry %d of %d is missing is not found", i, len(all))
		}
	}
	if verify(all) == nil {
		t.Error("a chain without its beginning is taken for whole")
	}
	var c nodeapi.AuditCheck
	c.Begin([]nodeapi.AuditLink{{Chain: "made up", Number: 3, Hash: "x"}})
	if c.Done() == nil {
		t.Error("a cut that no entry names is taken")
	}
}

// TestPruneHalfway: the next prune deletes the rest of a prune that broke off. Until then the rest is not listed.
func TestPruneHalfway(t *testing.T) {
	s := mem.New()
	now := time.Unix(1_700_000_000, 0)
	r, err := Open(t.Context(), s, "c1", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := r.Record(nodeapi.AuditEntry{Path: "/old"}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Hour)
	for _, method := range []string{"AuditCuts", "AppendAudit", "CutAudit", "PruneAudit"} {
		s.Fail(mem.Fault{Method: method, Nth: 1, Err: errors.New("full")})
		if _, err := r.Prune(context.Background(), now, ""); err == nil {
			t.Errorf("%s fails, and the prune does not", method)
		}
		if err := pruned(t, r, lines(t, s)); err != nil {
			t.Errorf("after %s: %v", method, err)
		}
	}
	done, err := r.Prune(t.Context(), now, "")
	if err != nil || done.Entries != 2 {
		t.Errorf("%d entries went, want 2: %v", done.Entries, err)
	}
	if err := pruned(t, r, lines(t, s)); err != nil {
		t.Error(err)
	}
}

// TestPruneClockSet: a clock that is ahead when a conductor starts deletes nothing that is not old by the entries and
// by the time that passes, neither by itself nor for an admin.
func TestPruneClockSet(t *testing.T) { synctest.Test(t, pruneClockSet) }

func pruneClockSet(t *testing.T) {
	s, now := mem.New(), time.Unix(1_700_000_000, 0)
	const age = 60 * 24 * time.Hour
	open := func() *Recorder {
		r, err := Open(t.Context(), s, "c1", func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	left := func(r *Recorder) int {
		ctx, cancel := context.WithTimeout(t.Context(), pruneEvery/2)
		defer cancel()
		r.Keep(ctx, age, slog.New(slog.DiscardHandler)) // looks once
		return len(lines(t, s))
	}
	r := open()
	for range 3 {
		if err := r.Record(nodeapi.AuditEntry{Path: "/p"}); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * age) // while it is away
	r = open()
	if n := left(r); n != 3 {
		t.Errorf("%d of 3 entries of a moment ago are left", n)
	}
	if err := r.Record(nodeapi.AuditEntry{Path: "/p"}); err != nil { // of the time of the wrong clock
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	r = open()
	if n := left(r); n != 4 {
		t.Errorf("%d of 4 entries of a moment ago are left at the second start", n)
	}
	if latest, err := r.Before(t.Context(), age); err != nil || latest.After(time.Unix(1_700_000_000, 0).Add(-age)) {
		t.Errorf("the bound for an admin's prune is %s, %v", latest, err)
	}
	now = now.Add(age + time.Hour) // by which it runs
	if n := left(r); n > 3 {
		t.Errorf("%d entries are left once a full age has passed", n)
	}
}

// TestRanBefore: an age has passed once conductors ran for so long, independent of their clocks at their starts.
func TestRanBefore(t *testing.T) {
	day := func(n int) time.Time { return time.Unix(1_700_000_000, 0).Add(time.Duration(n) * 24 * time.Hour) }
	life := func(from, until int) node.AuditLife { return node.AuditLife{From: day(from), Until: day(until)} }
	for name, c := range map[string]struct {
		lives     []node.AuditLife // the last one is ours, until day 100
		age, want int
	}{
		"a first start":                       {[]node.AuditLife{life(99, 100)}, 30, 70},
		"one life":                            {[]node.AuditLife{life(0, 100)}, 30, 70},
		"restarts without a gap":              {[]node.AuditLife{life(0, 80), life(80, 95), life(95, 100)}, 30, 70},
		"a gap of 60 days":                    {[]node.AuditLife{life(0, 30), life(90, 100)}, 30, 10},
		"two of them":                         {[]node.AuditLife{life(0, 10), life(50, 51), life(90, 100)}, 30, -9},
		"three members at a time":             {[]node.AuditLife{life(60, 99), life(65, 98), life(90, 100)}, 30, 70},
		"a short life in a long one":          {[]node.AuditLife{life(0, 99), life(50, 51), life(98, 100)}, 60, 40},
		"a life of a time to come":            {[]node.AuditLife{life(0, 99), life(500, 600), life(99, 100)}, 30, 70},
		"a start with the clock of day -9999": {[]node.AuditLife{life(0, 97), life(-9999, -9998), life(97, 100)}, 30, 70},
	} {
		if got := ranBefore(c.lives, day(100), time.Duration(c.age)*24*time.Hour); !got.Equal(day(c.want)) {
			t.Errorf("%s: day %v, want %d", name, got.Sub(day(0)).Hours()/24, c.want)
		}
	}
}
