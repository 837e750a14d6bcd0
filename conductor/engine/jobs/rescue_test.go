package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestLookupHidesTheRescuePassword: the hash of a rescue password is for the agent of the rescue alone, which gets it
// by a command. A lookup does not show it.
func TestLookupHidesTheRescuePassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		rescuable(w, n.UUID)
		rescue := plan.Request{Verb: node.RescueIt, RescuePassword: strings.Repeat("x", 513)}
		if err := w.E.Provision(w.Ctx, n.UUID, rescue); err == nil || !strings.Contains(err.Error(), "at most 512") {
			t.Errorf("a password of %d bytes: %v", len(rescue.RescuePassword), err)
		}
		rescue.RescuePassword = "open sesame"
		if err := w.E.Provision(w.Ctx, n.UUID, rescue); err != nil {
			t.Fatal(err)
		}
		shown, _, err := w.E.Lookup(w.Ctx, nil, n.UUID, node.Caller{Word: w.Word(n.UUID)})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(shown); strings.Contains(text, "$6$") ||
			!strings.Contains(text, "hashed_rescue_password:******") {
			t.Errorf("a lookup shows %s", text)
		}
	})
}

func rescuable(w *enginetest.World, id string) {
	w.T.Helper()
	if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
		n.Interfaces["rescue"] = "agent"
		return nil
	}); err != nil {
		w.T.Fatal(err)
	}
	w.Ask(id, node.Manage, node.Manageable)
	w.Ask(id, node.Adopt, node.Active)
}

// TestRescueWhoseAnswerIsLost: an agent that has let its owner in listens no more, and cannot be asked whether it has.
// The node shows the fate of the machine all the same.
func TestRescueWhoseAnswerIsLost(t *testing.T) {
	type (
		world   = enginetest.World
		machine = enginetest.Machine
	)
	const lost = "answer to finalize_rescue was lost"
	for name, c := range map[string]struct {
		lose  func(w *world, m *machine) error // as the command arrives first
		want  node.State
		tells string // in the history
	}{
		"by a conductor that dies": {func(w *world, _ *machine) error { w.Life.Dead.Store(true); return nil },
			node.Rescue, lost},
		"on the wire": {func(_ *world, m *machine) error { m.LetGo = true; return enginetest.ErrLost },
			node.Rescue, lost},
		"with the command": {func(*world, *machine) error { return enginetest.ErrLost }, node.Rescue,
			"rescue done"},
		"for there was no agent": {func(*world, *machine) error { return enginetest.ErrRefused }, node.RescueFailed,
			"gone before it was given the password"},
		"and the machine with it": {func(_ *world, m *machine) error { m.Boot++; return enginetest.ErrLost },
			node.RescueFailed, "try it, or request the rescue again"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enginetest.New(t, 1)
				w.Start()
				defer func() { w.Close() }()
				id := w.Create("redfish").UUID
				rescuable(w, id)
				arrived := make(chan struct{})
				w.Finalizing = func(m *enginetest.Machine) error { // the world is locked
					w.Finalizing = nil
					close(arrived)
					return c.lose(w, m)
				}
				w.Allow(w.E.Provision(w.Ctx, id, enginetest.RescueRequest))
				<-arrived
				if w.Life.Dead.Load() {
					w.End()
					w.Start()
				}
				n := w.Settled(id)
				told, err := w.E.History(w.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				if text := fmt.Sprint(told); n.ProvisionState != c.want || !strings.Contains(text, c.tells) {
					t.Errorf("the node ends in %q, want %q; expected %q in its history: %s", n.ProvisionState, c.want, c.tells, text)
				}
			})
		})
	}
}
