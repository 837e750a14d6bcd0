package records_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// unreadable is a store that cannot read the nodes of one class.
type unreadable struct {
	core.Store
	class string
	looks int
}

func (u *unreadable) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	if q.Equal["resource_class"] == u.class {
		u.looks++
		return nil, errors.New("unrecognized token")
	}
	return u.Store.Nodes(ctx, q)
}

// TestAllocationSetAside: an allocation that cannot be processed ends in error with
// the reason after some tries, and is looked at no more; others have their nodes.
func TestAllocationSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &unreadable{Store: mem.New(), class: "poisoned"}
		e, end := enginetest.StartOn(t, s, "a")
		defer end()
		enginetest.Offer(t, s.Store, "11111111-1111-4111-8111-111111111111", "whole", nil)
		for _, class := range []string{"poisoned", "whole"} {
			if _, err := e.Catalogs().Allocations.Create(t.Context(),
				node.Allocation{Name: class, ResourceClass: class}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Minute)
		for class, want := range map[string]node.AllocationState{"poisoned": node.AllocationError,
			"whole": node.AllocationActive} {
			a, err := e.Catalogs().Allocations.Find(t.Context(), class)
			if err != nil || a.State != want || want == node.AllocationError &&
				!strings.Contains(a.LastError, "unrecognized token") {
				t.Errorf("%s: %q, %q, %v; want %q", class, a.State, a.LastError, err, want)
			}
		}
		if s.looks > 40 {
			t.Errorf("it was looked at %d times in ten minutes", s.looks)
		}
	})
}
