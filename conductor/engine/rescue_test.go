package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestLookupHidesTheRescuePassword: the hash of a rescue password is for the agent of the rescue alone, which gets it
// by a command. A lookup does not show it.
func TestLookupHidesTheRescuePassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.create("redfish")
		rescuable(w, n.UUID)
		rescue := plan.Request{Verb: node.RescueIt, RescuePassword: strings.Repeat("x", 513)}
		if err := w.e.Provision(w.ctx, n.UUID, rescue); err == nil || !strings.Contains(err.Error(), "at most 512") {
			t.Errorf("a password of %d bytes: %v", len(rescue.RescuePassword), err)
		}
		rescue.RescuePassword = "open sesame"
		if err := w.e.Provision(w.ctx, n.UUID, rescue); err != nil {
			t.Fatal(err)
		}
		shown, _, err := w.e.Lookup(w.ctx, nil, n.UUID, node.Caller{Word: w.word(n.UUID)})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(shown); strings.Contains(text, "$6$") ||
			!strings.Contains(text, "hashed_rescue_password:******") {
			t.Errorf("a lookup shows %s", text)
		}
	})
}

func rescuable(w *world, id string) {
	w.t.Helper()
	if _, err := w.e.UpdateNode(w.ctx, id, func(n *node.Node) error {
		n.Interfaces["rescue"] = "agent"
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	w.ask(id, node.Manage, node.Manageable)
	w.ask(id, node.Adopt, node.Active)
}

// TestRescueWhoseAnswerIsLost: an agent that has let its owner in listens no more, and cannot be asked whether it has.
// The node shows the fate of the machine all the same.
func TestRescueWhoseAnswerIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		lose  func(w *world, m *machine) error // as the command arrives first
		want  node.State
		tells string // in the history
	}{
		"by a conductor that dies": {func(w *world, _ *machine) error { w.life.dead.Store(true); return nil }, node.Rescue,
			"answer to finalize_rescue was lost"},
		"on the wire": {func(_ *world, m *machine) error { m.letGo = true; return errLost }, node.Rescue,
			"answer to finalize_rescue was lost"},
		"with the command": {func(*world, *machine) error { return errLost }, node.Rescue, "rescue done"},
		"for there was no agent": {func(*world, *machine) error { return errRefused }, node.RescueFailed,
			"gone before it was given the password"},
		"and the machine with it": {func(_ *world, m *machine) error { m.boot++; return errLost }, node.RescueFailed,
			"try to log in, or ask for the rescue again"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.start()
				defer func() { w.close() }()
				id := w.create("redfish").UUID
				rescuable(w, id)
				arrived := make(chan struct{})
				w.finalizing = func(m *machine) error { // the world is locked
					w.finalizing = nil
					close(arrived)
					return c.lose(w, m)
				}
				w.allow(w.e.Provision(w.ctx, id, rescueRequest))
				<-arrived
				if w.life.dead.Load() {
					w.end()
					w.start()
				}
				n := w.settled(id)
				told, err := w.e.History(w.ctx, id)
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
