package store

import (
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestCountAway: the leader of a group counts the nodes of the others.
func TestCountAway(t *testing.T) {
	f := newRoom(t)
	s := f.term(t)
	for i, state := range []node.State{node.Deploying, node.Deploying, node.Cleaning, node.Active, node.Deploying} {
		n := node.Node{UUID: fmt.Sprint("n", i), ConductorGroup: "rack", ProvisionState: state}
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
			t.Fatal(err)
		}
	}
	f.exec(t, "UPDATE nodes SET conductor_group = '' WHERE uuid IN ('n0', 'n3')")
	f.exec(t, "UPDATE nodes SET conductor_group = 'other' WHERE uuid IN ('n1', 'n2')")
	for _, c := range []struct {
		in   map[node.State]bool
		want int
	}{
		{map[node.State]bool{node.Deploying: true}, 2},
		{map[node.State]bool{node.Deploying: true, node.Cleaning: true, node.Active: false}, 3},
		{map[node.State]bool{node.CleanWait: true}, 0},
	} {
		if count, err := s.CountAway(t.Context(), c.in); count != c.want || err != nil {
			t.Errorf("%v: %d, %v, want %d", c.in, count, err, c.want)
		}
	}
}
