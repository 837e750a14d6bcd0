package ramdisk_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// counting counts how often all nodes are read.
type counting struct {
	core.Store
	lists atomic.Int32
}

func (c *counting) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	c.lists.Add(1)
	return c.Store.Nodes(ctx, q)
}

// TestStrangersReadNoNodes: calls of unknown machines make the conductor read all nodes once. Its index then follows
// every change.
func TestStrangersReadNoNodes(t *testing.T) {
	store := &counting{Store: mem.New()}
	e := engine.New(core.Config{
		Store: store, BMCs: map[string]core.BMC{"ipmi": idle{}}, Settings: plan.Settings{ConductorName: "c1"},
		Log: slog.New(slog.DiscardHandler), Discovery: core.Discovery{Driver: "ipmi", Limit: 3},
	})
	enrolled, err := e.CreateNode(t.Context(),
		node.Node{Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": "192.168.1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	cards := 0
	call := func(bmc, system string) (node.Node, error) {
		cards++
		return discover(t, e, found(bmc, system, fmt.Sprintf("52:54:00:00:00:%02x", cards), "52:54:00:00:01:00"))
	}
	if _, err := call("192.168.1.1", ""); enginetest.KindOf(t, err) != node.NotFound {
		t.Errorf("the BMC of a node that is enrolled: %v", err)
	}
	first, err := call("192.168.1.2", enginetest.SystemA)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.UpdateNode(t.Context(), enrolled.UUID, func(n *node.Node) error {
		n.DriverInfo["ipmi_address"] = "192.168.1.3"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := call("192.168.1.3", ""); enginetest.KindOf(t, err) != node.NotFound {
		t.Errorf("the BMC it has now: %v", err)
	}
	if second, err := call("192.168.1.1", ""); err != nil || second.UUID == enrolled.UUID || second.UUID == first.UUID {
		t.Errorf("the BMC it had before: %v, %v", second.UUID, err)
	}
	if err := e.DeleteNode(t.Context(), first.UUID); err != nil {
		t.Fatal(err)
	}
	if again, err := call("192.168.1.2", enginetest.SystemA); err != nil || again.UUID == first.UUID {
		t.Errorf("a machine whose node was deleted: %v, %v", again.UUID, err)
	}
	if _, err := call("", ""); err != nil {
		t.Errorf("the third that is undecided: %v", err)
	}
	if _, err := call("", ""); enginetest.KindOf(t, err) != node.Busy {
		t.Errorf("the fourth: %v", err)
	}
	named, err := e.CreateNode(t.Context(),
		node.Node{Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": "BMC.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"192.168.1.3": enrolled.UUID, "bmc.Example": named.UUID, "elsewhere": ""} {
		nodes, err := e.NodesAt(t.Context(), host)
		if found := len(nodes) == 1 && nodes[0].UUID == want; err != nil || found != (want != "") {
			t.Errorf("at %s there are %v, %v", host, nodes, err)
		}
	}
	if n := store.lists.Load(); n != 1 {
		t.Errorf("all nodes were read %d times", n)
	}
}
