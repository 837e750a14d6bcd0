package jobs

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestEffects: each row of plan's table has a function, and no function is without a row.
func TestEffects(t *testing.T) {
	if diff := cmp.Diff(plan.Effects(), slices.Sorted(maps.Keys(jobs))); diff != "" {
		t.Errorf("-rows of plan/effects.go +functions of jobs/effects.go:\n%s", diff)
	}
}
