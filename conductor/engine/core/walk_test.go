package core

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// sized is a store of nodes with the sizes of a page, by UUID.
type sized struct {
	Store
	bytes map[string]int
}

func (s sized) NodeSizes(_ context.Context, q node.Query) (all []node.Sized, err error) {
	for _, uuid := range q.UUIDs {
		all = append(all, node.Sized{UUID: uuid, Bytes: s.bytes[uuid]})
	}
	return all, nil
}

func (s sized) Nodes(_ context.Context, q node.Query) (all []node.Node, err error) {
	for _, uuid := range q.UUIDs {
		all = append(all, node.Node{UUID: uuid})
	}
	return all, nil
}

// TestWalkLargeNodes: nodes with config drives of 64 MiB are in memory one after the other, however many lists read
// them. Lists of others do not wait.
func TestWalkLargeNodes(t *testing.T) {
	e := New(Config{Store: sized{bytes: map[string]int{"a": 64 << 20, "b": 64 << 20, "c": 64 << 10, "d": 2 << 20}}})
	walk := func(uuid string, f func()) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		seen := 0
		err := e.WalkNodes(ctx, node.Query{UUIDs: []string{uuid}}, func(*node.Node) bool {
			seen++
			f()
			return true
		})
		if err == nil && seen != 1 {
			t.Errorf("%d nodes were seen", seen)
		}
		return err
	}
	none := func() {}
	if err := walk("a", func() {
		if err := walk("b", none); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second large node is read: %v", err)
		}
		if err := walk("c", none); err != nil {
			t.Errorf("a small one waits: %v", err)
		}
	}); err != nil {
		t.Error(err)
	}
	if err := walk("d", func() {
		if err := walk("d", none); err != nil {
			t.Errorf("two of 2 MiB are not read beside each other: %v", err)
		}
	}); err != nil {
		t.Error(err)
	}
	if err := walk("b", none); err != nil {
		t.Errorf("nobody reads, and it waits: %v", err)
	}
}
