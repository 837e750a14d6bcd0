package reconciler_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// grouped is a database whose nodes may be in another conductor group for a time.
type grouped struct {
	database
	away atomic.Bool
}

func (g *grouped) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	if c.Save != nil && g.away.Load() {
		return node.Node{}, &node.OtherGroupError{Node: c.Save.UUID, Group: "rack-a"}
	}
	return g.database.Commit(ctx, c)
}

// A host whose node was moved to another conductor group says so, and goes on once the node is back.
func TestNodeOfAnotherGroup(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		g := &grouped{database: w.store}
		w.store = g
		w.start()
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		g.away.Store(true)
		w.edit("a", withImage("http://images/a"))
		h := w.until("a", "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
		if !strings.Contains(h.Status.ErrorMessage, `in the conductor group "rack-a"`) ||
			!strings.Contains(h.Status.ErrorMessage, "conductor_group") {
			t.Errorf("the error is %q", h.Status.ErrorMessage)
		}
		g.away.Store(false)
		if h := w.becomes("a", hostapi.StateProvisioned); h.Status.ErrorMessage != "" {
			t.Errorf("the error is still %q", h.Status.ErrorMessage)
		}
	})
}
