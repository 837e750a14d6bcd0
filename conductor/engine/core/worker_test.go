package core_test

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
)

// panicky is a BMC driver with a fault of its own.
type panicky struct{ *enginetest.World }

func (panicky) PowerState(context.Context, node.Node) (node.PowerState, error) {
	panic("assignment to entry in nil map")
}

func TestAPanicFailsItsNodeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Drive = func(b core.BMC) core.BMC { return panicky{w} }
		w.Start()
		defer w.Close()
		n := w.Ask(w.Create("redfish").UUID, node.Manage, node.Enroll)
		if !strings.Contains(n.LastError, "nil map") {
			t.Errorf("last_error is %q", n.LastError)
		}
	})
}

// TestEveryEffectEnds: an effect without an end of its own gives its node back, with a reason. Effects that have left
// their worker have an end of their own.
func TestEveryEffectEnds(t *testing.T) {
	for name, left := range map[string]bool{"holds its worker": false, "has left its worker": true} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			w.Start()
			defer w.Close()
			own := errors.New("nobody came")
			w.E.Perform = func(ctx context.Context, ef node.Effect, leave func()) (any, error) {
				patience := 40 * time.Minute
				if left {
					leave()
				}
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(patience):
					return nil, node.Refuse(node.Conflict, "%v", own)
				}
			}
			want := map[bool]string{false: "power.validate did not end within 30m0s", true: own.Error()}[left]
			if n := w.Ask(w.Create("redfish").UUID, node.Manage, node.Enroll); !strings.Contains(n.LastError, want) {
				t.Errorf("%s: last_error is %q", name, n.LastError)
			}
		})
	}
}
