package ramdisk

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestSavesNotedOutOfOrder: a save may be noted after the deletion of its node, or before its creation. It leaves no
// wrong entry behind: the undecided nodes and the known BMCs are those in the store.
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
			uuids := m.like(agentapi.Inspection{Inventory: agentapi.Inventory{BMCAddress: address}})
			open := m.undecided()
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
	m.saved(commit(node.Change{Insert: stranger(a, "10.0.0.1")}), true)
	is("one is made", 1, "10.0.0.1")
	n, err := store.Node(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	late := commit(node.Change{Save: &n})
	commit(node.Change{Delete: a})
	m.deleted(a)
	m.saved(late, false)
	is("a late save", 0)

	early := commit(node.Change{Insert: stranger(b, "10.0.0.2")})
	moved := early.Clone()
	moved.DriverInfo = map[string]any{"ipmi_address": "10.0.0.3"}
	m.saved(commit(node.Change{Save: &moved}), false)
	is("an early save", 1, "10.0.0.3")
	m.saved(early, true)
	is("the making", 1, "10.0.0.3")
}

// slowStore has something happen between two pages of nodes, and before a node is read.
type slowStore struct {
	*mem.Store
	meanwhile func()
}

func (s *slowStore) happens() {
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
}

func (s *slowStore) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	nodes, err := s.Store.Nodes(ctx, q)
	s.happens()
	return nodes, err
}

func (s *slowStore) Node(ctx context.Context, ref string) (node.Node, error) {
	n, err := s.Store.Node(ctx, ref)
	s.happens()
	return n, err
}

// TestSavesAmidReading: saves and deletions do not wait while all nodes are read. None is missed, whether the node was
// already read or is read later.
func TestSavesAmidReading(t *testing.T) {
	store, ctx, m := &slowStore{Store: mem.New()}, context.Background(), &machines{}
	uuid := func(i int) string { return fmt.Sprintf("1be26c0b-03f2-4d2e-ae87-%012d", i) }
	at := func(i int) string { return fmt.Sprintf("10.0.%d.%d", i/250, i%250+1) }
	const count = machinePage + 20
	for i := range count {
		_, err := store.Commit(ctx, node.Change{Insert: &node.Node{UUID: uuid(i), Driver: "ipmi",
			ProvisionState: node.Active, CreatedAt: time.Unix(int64(i), 0), DriverInfo: map[string]any{"ipmi_address": at(i)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	move := func(i int, address string) {
		n, err := store.Store.Node(ctx, uuid(i))
		if err != nil {
			t.Fatal(err)
		}
		n = n.Clone()
		n.DriverInfo = map[string]any{"ipmi_address": address}
		if n, err = store.Commit(ctx, node.Change{Save: &n}); err != nil {
			t.Fatal(err)
		}
		m.saved(n, false)
	}
	remove := func(i int) {
		if _, err := store.Commit(ctx, node.Change{Delete: uuid(i)}); err != nil {
			t.Fatal(err)
		}
		m.deleted(uuid(i))
	}
	store.meanwhile = func() { // after the first page
		move(0, "10.9.0.1")
		move(count-1, "10.9.0.2")
		remove(1)
		remove(count - 2)
		store.meanwhile = nil
	}
	fill := func() {
		t.Helper()
		if err := m.fill(ctx, store); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	is := func(address string, want ...string) {
		t.Helper()
		if got := m.at(address); !slices.Equal(got, want) {
			t.Errorf("the BMC %s is that of %v, want %v", address, got, want)
		}
	}
	is("10.9.0.1", uuid(0))
	is("10.9.0.2", uuid(count-1))
	for _, i := range []int{0, 1, count - 2, count - 1} {
		is(at(i))
	}
	is(at(2), uuid(2))
	if len(m.nodes) != count-2 {
		t.Errorf("%d nodes are known, want %d", len(m.nodes), count-2)
	}

	n, err := store.Store.Node(ctx, uuid(3))
	if err != nil {
		t.Fatal(err)
	}
	m.deleted(uuid(3)) // of an earlier node of this UUID, noted late
	m.saved(n, false)
	store.meanwhile = func() { remove(3) } // while it is read
	fill()
	is(at(3))
}

// TestStrangers: calls of one machine wait for each other, calls of other machines do not. The number of nodes that are
// made at a time is bounded.
func TestStrangers(t *testing.T) {
	var s unknownMachines
	ctx := context.Background()
	leave, err := s.begin(ctx, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.begin(ctx, []string{"c"})
	if err != nil {
		t.Fatal(err)
	}
	gone, end := context.WithCancel(ctx)
	end()
	if _, err := s.begin(gone, []string{"b"}); err == nil {
		t.Error("two calls of one machine at a time")
	}
	entered := make(chan error, 1)
	go func() {
		again, err := s.begin(ctx, []string{"c", "b"})
		if err == nil {
			again()
		}
		entered <- err
	}()
	other()
	select {
	case <-entered:
		t.Error("it did not wait for the other call of its machine")
	case <-time.After(20 * time.Millisecond):
	}
	leave()
	if err := <-entered; err != nil || len(s.busy) > 0 {
		t.Errorf("%v, busy: %v", err, s.busy)
	}
	three := func() int { return 3 }
	made, ok := s.reserve(three, 4)
	if _, again := s.reserve(three, 4); !ok || again {
		t.Errorf("room for one: %t, %t", ok, again)
	}
	made()
	if _, ok := s.reserve(three, 4); !ok {
		t.Error("no room when the other one is made")
	}
}
