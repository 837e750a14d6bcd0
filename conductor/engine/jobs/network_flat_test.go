package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestFlatNetwork: the VIFs of a node with network interface flat are bound to its machine while it has an instance.
// No ramdisk has a network of its own, and the port needs no link to a switch.
func TestFlatNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := networked(t, "flat")
		defer w.Close()
		reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.Available)
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
		reach(w, n.UUID, plan.Request{Verb: node.Deploy}, node.Active)
		w.Must(w.E.DetachVIF(w.Ctx, n.UUID, "v1"))
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v2"}))
		reach(w, n.UUID, plan.Request{Verb: node.Delete}, node.Available)
		want := []string{"plug v1 at v1", `tenant, power off, VIF "v1"`, "unplug v1", "plug v2 at v2",
			`none, power off, VIF "v2"`}
		if !slices.Equal(s.said, want) {
			t.Errorf("Neutron heard\n%s\nexpected\n%s", strings.Join(s.said, "\n"), strings.Join(want, "\n"))
		}
	})
}
