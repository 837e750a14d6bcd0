package store

import (
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestCountInGroups: nodes are counted by group and state.
func TestCountInGroups(t *testing.T) {
	f := newRoom(t)
	s := f.term(t)
	for i, state := range []node.State{node.Deploying, node.Deploying, node.Cleaning, node.Active, node.Deploying,
		node.Deploying} {
		n := node.Node{UUID: fmt.Sprint("n", i), ConductorGroup: "rack", ProvisionState: state}
		if i == 5 {
			n.Owner = "blue"
		}
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
	}
	f.exec(t, "UPDATE nodes SET conductor_group = '' WHERE uuid IN ('n0', 'n3')")
	f.exec(t, "UPDATE nodes SET conductor_group = 'other' WHERE uuid IN ('n1', 'n2')")
	for _, c := range []struct {
		groups []string
		in     map[node.State]bool
		want   int
	}{
		{[]string{"rack", "other"}, map[node.State]bool{node.Deploying: true}, 2},
		{[]string{"other", "rack"}, map[node.State]bool{node.Deploying: true, node.Cleaning: true, node.Active: false}, 3},
		{[]string{"other"}, map[node.State]bool{node.Deploying: true}, 1},
		{[]string{"other"}, map[node.State]bool{node.CleanWait: true}, 0},
		{[]string{"other"}, map[node.State]bool{node.Deploying: false}, 0},
		{nil, map[node.State]bool{node.Deploying: true}, 0},
	} {
		if count, err := s.CountInGroups(t.Context(), c.groups, c.in); count != c.want || err != nil {
			t.Errorf("%v of %v: %d, %v, want %d", c.in, c.groups, count, err, c.want)
		}
	}
}
