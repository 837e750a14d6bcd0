package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestReadsAreCurrent: a read that begins after a save has returned sees that save or a later one. Meanwhile others
// list, and nodes are deleted and enrolled again. The cache is so small that it drops nodes all the time.
func TestReadsAreCurrent(t *testing.T) {
	s := open(t, t.TempDir(), store.Options{NoSync: true, CacheBytes: 12 << 10})
	const nodes, rounds = 4, 150
	var saved [nodes]atomic.Int64 // the round each node was saved in last
	var writers, readers sync.WaitGroup
	over := make(chan struct{})
	for i := range nodes {
		writers.Go(func() {
			for round := int64(1); round <= rounds; round++ {
				if err := saveRound(t, s, i, round); err != nil {
					t.Errorf("node %d, round %d: %v", i, round, err)
					return
				}
				saved[i].Store(round)
			}
		})
		readers.Go(func() { readOn(t, s, over, i, &saved[i]) })
		readers.Go(func() { listOn(t, s, over) })
	}
	writers.Wait()
	close(over)
	readers.Wait()
}

// saveRound saves a node, or in every tenth round deletes it and enrolls it anew.
func saveRound(t *testing.T, s *store.Database, i int, round int64) error {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
	old, err := s.Node(t.Context(), id)
	fresh := errors.Is(err, node.ErrNotFound)
	if err != nil && !fresh {
		return err
	}
	if !fresh && round%10 == 0 {
		if _, err := s.Commit(t.Context(), node.Change{Delete: id}); err != nil {
			return err
		}
		fresh = true
	}
	n := old
	n.UUID, n.ProvisionState = id, node.Enroll
	n.Extra = map[string]any{"round": float64(round), "ballast": strings.Repeat("x", 1<<10)}
	change := node.Change{Save: &n}
	if fresh {
		change = node.Change{Insert: &n}
	}
	if _, err := s.Commit(t.Context(), change); err != nil {
		return err
	}
	n.Extra["round"] = "changed by the caller"
	if _, err := s.Commit(t.Context(), node.Change{Save: &n, DropPorts: []string{"none"}}); err == nil {
		return errors.New("a change that drops a port nobody has was saved")
	}
	return nil
}

func readOn(t *testing.T, s *store.Database, over chan struct{}, i int, saved *atomic.Int64) {
	for {
		select {
		case <-over:
			return
		default:
		}
		floor := saved.Load()
		n, err := s.Node(t.Context(), fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
		if errors.Is(err, node.ErrNotFound) {
			continue // not yet, or between two lives
		}
		if err != nil {
			t.Error(err)
			return
		}
		round, ok := n.Extra["round"].(float64)
		if !ok || int64(round) < floor {
			t.Errorf("node %d was saved in round %d, a later read finds it as of round %v (revision %d)", i, floor,
				n.Extra["round"], n.Revision)
			return
		}
	}
}

func listOn(t *testing.T, s *store.Database, over chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		if _, err := s.Nodes(t.Context(), node.Query{}); err != nil {
			t.Error(err)
			return
		}
	}
}
