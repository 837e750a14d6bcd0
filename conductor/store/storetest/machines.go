package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// redfishNode is a node with a BMC. A system of "" is the only one there.
func redfishNode(n int, address, system string) node.Node {
	of := sample(n)
	of.Driver, of.DriverInfo = "redfish", map[string]any{"redfish_address": address}
	if system != "" {
		of.DriverInfo["redfish_system_id"] = "/redfish/v1/Systems/" + system
	}
	return of
}

// takenBy checks that a change is refused because a node has the machine; 0 for any node.
func takenBy(t *testing.T, s store.Store, what string, c node.Change, other int) {
	t.Helper()
	_, err := s.Commit(t.Context(), c)
	var taken *node.MachineTakenError
	if !errors.As(err, &taken) || other > 0 && taken.Other != uuid(other) || !errors.Is(err, node.ErrConflict) {
		t.Errorf("%s: %v, want the machine of node %d", what, err, other)
	}
}

func testMachines(t *testing.T, s store.Store) {
	first := insert(t, s, redfishNode(1, "https://10.0.0.1", "1"))
	insert(t, s, redfishNode(2, "https://10.0.0.1", "2"))
	whole := insert(t, s, redfishNode(3, "https://10.0.0.2", ""))
	for what, n := range map[string]struct {
		made  node.Node
		other int
	}{
		"the same, written otherwise":  {redfishNode(9, "10.0.0.1:443/redfish/v1/", "1/"), 1},
		"a system beside the only one": {redfishNode(9, "10.0.0.2", "1"), 3},
		"the only one, written anew":   {redfishNode(9, "https://10.0.0.2/", ""), 3},
		"the only one beside two":      {redfishNode(9, "https://10.0.0.1", ""), 0},
	} {
		takenBy(t, s, what, node.Change{Insert: &n.made}, n.other)
	}
	// Addresses that only begin alike are others.
	insert(t, s, redfishNode(4, "https://10.0.0.1/a", ""))
	insert(t, s, redfishNode(5, "https://10.0.0.1/a%20b", ""))
	child, shared := redfishNode(6, "https://10.0.0.1", "1"), redfishNode(7, "https://10.0.0.1", "1")
	child.ParentNode, shared.SharesMachine = uuid(1), true
	insert(t, s, child)
	shared = insert(t, s, shared)

	shared.Name, shared.Maintenance = "shared", true
	shared, err := s.Commit(t.Context(), node.Change{Save: &shared})
	check(t, err)
	shared.SharesMachine = false
	takenBy(t, s, "no longer shared", node.Change{Save: &shared}, 1)
	whole.DriverInfo = map[string]any{"redfish_address": "https://10.0.0.1"}
	takenBy(t, s, "a changed address", node.Change{Save: &whole}, 0)
	first.Name, first.ProvisionState = "first", node.Verifying
	first, err = s.Commit(t.Context(), node.Change{Save: &first})
	check(t, err)
	first.DriverInfo = map[string]any{"redfish_address": "https://10.0.0.3"}
	_, err = s.Commit(t.Context(), node.Change{Save: &first})
	check(t, err)
	_, err = s.Commit(t.Context(), node.Change{Save: &shared}) // the machine is free again
	check(t, err)
	_, err = s.Commit(t.Context(), node.Change{Delete: shared.UUID})
	check(t, err)
	insert(t, s, redfishNode(8, "https://10.0.0.1", "1"))
}

// RaceMachines inserts nodes with one machine at a time, by turns through several stores over the same data. One of
// the nodes must be taken.
func RaceMachines(t *testing.T, stores ...store.Store) {
	t.Helper()
	const nodes = 12
	var all sync.WaitGroup
	errs := make([]error, nodes)
	for i := range nodes {
		system := ""
		if i%3 == 0 {
			system = "1"
		}
		n := redfishNode(i, "https://10.0.0.1", system)
		all.Go(func() { _, errs[i] = stores[i%len(stores)].Commit(t.Context(), node.Change{Insert: &n}) })
	}
	all.Wait()
	taken := 0
	for i, err := range errs {
		var refused *node.MachineTakenError
		switch {
		case err == nil:
			taken++
		case !errors.As(err, &refused):
			t.Errorf("node %d: %v", i, err)
		}
	}
	if taken != 1 {
		t.Errorf("%d of %d nodes of one machine were stored, want 1", taken, nodes)
	}
}
