package ramdisk

import (
	"context"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// A save that is noted when its node is gone, or before the making of the node is,
// leaves nothing behind that is not so: nodes that are waited for, and BMCs that are
// somebody's, are those there are.
func TestSavesNotedOutOfOrder(t *testing.T) {
	store, ctx, m := mem.New(), context.Background(), &machines{}
	commit := func(c node.Change) node.Node {
		t.Helper()
		n, err := store.Commit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	stranger := func(uuid, address string) *node.Node {
		at := time.Unix(1, 0).UTC()
		return &node.Node{
			UUID: uuid, Driver: "ipmi", ProvisionState: node.Enroll, CreatedAt: at,
			DriverInfo:         map[string]any{"ipmi_address": address},
			DriverInternalInfo: map[string]any{"discovered_at": at.Format(time.RFC3339)},
		}
	}
	is := func(when string, undecided int, addresses ...string) {
		t.Helper()
		if err := m.fill(ctx, store); err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
			uuids, open := m.like(agentapi.Inspection{Inventory: agentapi.Inventory{BMCAddress: address}})
			want := 0
			for _, a := range addresses {
				if a == address {
					want++
				}
			}
			if len(uuids) != want || open != undecided {
				t.Errorf("%s: the BMC %s is that of %v, %d undecided, want %d and %d", when, address, uuids, open, want, undecided)
			}
		}
	}
	const a, b = "1be26c0b-03f2-4d2e-ae87-c02d7f33c123", "2be26c0b-03f2-4d2e-ae87-c02d7f33c123"
	is("at first", 0)
	m.Saved(commit(node.Change{Insert: stranger(a, "10.0.0.1")}), true)
	is("one is made", 1, "10.0.0.1")
	n, err := store.Node(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	late := commit(node.Change{Save: &n})
	commit(node.Change{Delete: a})
	m.Deleted(a)
	m.Saved(late, false)
	is("a late save", 0)

	early := commit(node.Change{Insert: stranger(b, "10.0.0.2")})
	moved := early.Clone()
	moved.DriverInfo = map[string]any{"ipmi_address": "10.0.0.3"}
	m.Saved(commit(node.Change{Save: &moved}), false)
	is("an early save", 1, "10.0.0.3")
	m.Saved(early, true)
	is("the making", 1, "10.0.0.3")
}
