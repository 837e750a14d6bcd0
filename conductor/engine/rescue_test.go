package engine_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// The hash of a rescue password is for the agent of the rescue alone, which is
// given it by a command: whoever can look a machine up is not shown it.
func TestLookupHidesTheRescuePassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.create("redfish")
		if _, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error { n.Interfaces["rescue"] = "agent"; return nil }); err != nil {
			t.Fatal(err)
		}
		w.ask(n.UUID, node.Manage, node.Manageable)
		w.ask(n.UUID, node.Adopt, node.Active)
		rescue := plan.Request{Verb: node.RescueIt, RescuePassword: strings.Repeat("x", 513)}
		if err := w.e.Provision(w.ctx, n.UUID, rescue); err == nil || !strings.Contains(err.Error(), "at most 512") {
			t.Errorf("a password of %d bytes: %v", len(rescue.RescuePassword), err)
		}
		rescue.RescuePassword = "open sesame"
		if err := w.e.Provision(w.ctx, n.UUID, rescue); err != nil {
			t.Fatal(err)
		}
		shown, _, err := w.e.Lookup(w.ctx, nil, n.UUID, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(shown); strings.Contains(text, "$6$") || !strings.Contains(text, "hashed_rescue_password:******") {
			t.Errorf("a lookup shows %s", text)
		}
	})
}
