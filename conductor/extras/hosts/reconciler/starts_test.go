package reconciler

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// oneGroup is the conductor group rack-a.
type oneGroup struct {
	Groups
	led, silent bool
}

func (g *oneGroup) Led(string) bool    { return g.led }
func (g *oneGroup) Silent(string) bool { return g.silent }

// TestStarts: few hosts of another group are about to be busy at a time. A call to a silent leader counts for none.
func TestStarts(t *testing.T) {
	for name, is := range map[string]struct {
		group     string
		of        oneGroup
		limit     int
		counts    int
		mostAtOne int // 0 for any number
	}{
		"own":        {"", oneGroup{led: true}, 20, 1, 0},
		"of another": {"rack-a", oneGroup{led: true}, 20, 1, 3},
		"small":      {"rack-a", oneGroup{led: true}, 1, 1, 1},
		"leaderless": {"rack-a", oneGroup{}, 20, 1, 0},
		"silent":     {"rack-a", oneGroup{led: true, silent: true}, 20, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(Config{Groups: &is.of, ProvisioningLimit: is.limit})
				r.workers <- struct{}{} // of this test
				var leave func()
				for range cmp.Or(is.mostAtOne, 10) {
					counts, l, err := r.awaitStart(t.Context(), is.group)
					if leave = l; counts != is.counts || err != nil {
						t.Fatalf("counts for %d, %v; expected %d", counts, err, is.counts)
					}
				}
				if is.mostAtOne == 0 {
					return
				}
				within, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, _, err := r.awaitStart(within, is.group); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("one more than %d is let through: %v", is.mostAtOne, err)
				}
				leave()
				if _, _, err := r.awaitStart(t.Context(), is.group); err != nil || len(r.workers) != 1 {
					t.Errorf("after one has ended: %v, with %d workers", err, len(r.workers))
				}
			})
		})
	}
}
