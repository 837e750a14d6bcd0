package storetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func allocation(n int, name string) node.Allocation {
	return node.Allocation{
		Record: record(n), Name: name, State: node.Allocating, ResourceClass: "bm", Traits: []string{"CUSTOM_X"},
		CandidateNodes: []string{uuid(90)}, Owner: "o", Extra: map[string]any{"k": "v"},
	}
}

func testAllocations(t *testing.T, s store.Store) {
	testCatalog(t, s.Catalogs().Allocations, sampler[node.Allocation]{
		allocation, func(v *node.Allocation) { v.LastError = "none fits" },
		func(v *node.Allocation, name string) { v.Name = name },
	}, "An allocation with name CUSTOM_A already exists.", "Allocation nobody could not be found.")
	for state, want := range map[string]int{"allocating": 2, "other": 0} {
		got, err := s.Catalogs().Allocations.List(t.Context(), "state", state)
		check(t, err)
		equal(t, want, len(got))
	}
}

// bound gives node n to a, which is stored already when it has a revision.
func bound(a node.Allocation, n node.Node) node.Change {
	a.State, a.NodeUUID = node.AllocationActive, n.UUID
	n.InstanceUUID, n.AllocationUUID = a.UUID, a.UUID
	return node.Change{Save: &n, PutAllocation: &a}
}

// testBinding binds nodes and allocations: both are written, or neither.
func testBinding(t *testing.T, s store.Store) {
	kept := s.Catalogs().Allocations
	n1, n2 := insert(t, s, sample(1)), insert(t, s, sample(2))
	a, err := kept.Insert(t.Context(), allocation(11, "a"))
	check(t, err)
	unchanged := func() {
		t.Helper()
		for _, n := range []node.Node{n1, n2} {
			got, err := s.Node(t.Context(), n.UUID)
			check(t, err)
			equal(t, n, got)
		}
		all, err := kept.List(t.Context(), "")
		check(t, err)
		equal(t, []node.Allocation{a}, all)
	}
	stale, old := a, n1
	stale.Revision, old.Revision = 7, 7
	nowhere := a
	nowhere.NodeUUID = uuid(77)
	for _, c := range []struct {
		change node.Change
		want   error
	}{
		{bound(stale, n1), node.ErrStale},
		{bound(a, old), node.ErrStale},
		{bound(node.Allocation{Record: node.Record{UUID: uuid(12), Revision: 1}}, n1), node.ErrNotFound},
		{bound(allocation(12, "a"), n1), node.ErrConflict},
		{node.Change{PutAllocation: &nowhere}, node.ErrNotFound},
		{node.Change{Save: &n1, DropAllocation: a.UUID}, node.ErrStale},
	} {
		_, err := s.Commit(t.Context(), c.change)
		wants(t, err, c.want)
		unchanged()
	}
	last := bound(a, n1) // its last part fails
	last.History = []node.HistoryEntry{{NodeUUID: uuid(99)}}
	_, err = s.Commit(t.Context(), last)
	wants(t, err, node.ErrNotFound)
	unchanged()

	n1, err = s.Commit(t.Context(), bound(a, n1))
	check(t, err)
	got, err := kept.List(t.Context(), "node_uuid", n1.UUID)
	check(t, err)
	a.State, a.NodeUUID, a.Revision = node.AllocationActive, n1.UUID, 2
	equal(t, []node.Allocation{a}, got)
	equal(t, a.UUID, n1.AllocationUUID)

	second := allocation(12, "b") // of a node that has one
	second.NodeUUID = n1.UUID
	_, err = s.Commit(t.Context(), node.Change{PutAllocation: &second})
	wants(t, err, node.ErrConflict)
}

// testParting takes nodes and allocations apart.
func testParting(t *testing.T, s store.Store) {
	kept := s.Catalogs().Allocations
	n1, n2 := insert(t, s, sample(1)), insert(t, s, sample(2))
	waiting, err := kept.Insert(t.Context(), allocation(10, "waiting"))
	check(t, err)
	n1, err = s.Commit(t.Context(), bound(allocation(11, "a"), n1))
	check(t, err)
	n2, err = s.Commit(t.Context(), bound(allocation(12, "b"), n2))
	check(t, err)

	for _, c := range []node.Change{{DropAllocation: uuid(11)}, {Save: &n2, DropAllocation: uuid(11)}} {
		_, err := s.Commit(t.Context(), c)
		wants(t, err, node.ErrStale)
	}
	free := n1
	free.AllocationUUID, free.InstanceUUID = "", ""
	free, err = s.Commit(t.Context(), node.Change{Save: &free, DropAllocation: uuid(11)})
	check(t, err)
	equal(t, "", free.InstanceUUID)
	_, err = kept.Find(t.Context(), uuid(11))
	wants(t, err, node.ErrNotFound)
	_, err = s.Commit(t.Context(), node.Change{Save: &free, DropAllocation: uuid(11)}) // gone already
	check(t, err)

	_, err = s.Commit(t.Context(), node.Change{DropAllocation: waiting.UUID})
	check(t, err)
	_, err = s.Commit(t.Context(), node.Change{Delete: n2.UUID})
	check(t, err)
	all, err := kept.List(t.Context(), "")
	check(t, err)
	equal(t, 0, len(all))
}
