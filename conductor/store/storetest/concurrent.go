package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// testConcurrent lets workers race: some changes fail, and must harm none of
// those they may share a transaction with.
func testConcurrent(t *testing.T, s store.Store) {
	const workers, rounds = 16, 10
	for i := range workers {
		insert(t, s, sample(i))
	}
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	for i := range workers {
		wg.Go(func() {
			if err := race(t.Context(), s, i, rounds); err != nil {
				errs <- fmt.Errorf("worker %d: %w", i, err)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	all, err := s.Nodes(t.Context(), node.Query{})
	check(t, err)
	for _, n := range all {
		if n.Revision != rounds+1 || n.Name != "" {
			t.Errorf("node %s: revision %d, name %q, want %d and none", n.UUID, n.Revision, n.Name, rounds+1)
		}
	}
}

func race(ctx context.Context, s store.Store, i, rounds int) error {
	for r := range rounds {
		n, err := s.Node(ctx, uuid(i))
		if err != nil {
			return err
		}
		if n.Revision != int64(r+1) {
			return fmt.Errorf("read revision %d after %d saves", n.Revision, r)
		}
		saved, err := s.Commit(ctx, node.Change{Save: &n, Effects: []node.Effect{effect(i, "x", at(0))}})
		if err != nil {
			return err
		}
		saved.Name = "must not stay"
		_, err = s.Commit(ctx, node.Change{Save: &saved, DropPorts: []string{uuid(99)}})
		if !errors.Is(err, node.ErrNotFound) {
			return fmt.Errorf("dropping a port that is not there: want not found, got: %w", err)
		}
		if err := finishAny(ctx, s, i); err != nil {
			return err
		}
	}
	return nil
}

// finishAny claims like a real worker and waits until the effect of node i has been finished by any worker.
func finishAny(ctx context.Context, s store.Store, i int) error {
	for {
		got, err := Claim(ctx, s, "me", at(1), time.Minute, 4)
		if err != nil {
			return err
		}
		for _, e := range got {
			if _, err := s.Commit(ctx, node.Change{Finish: &e}); err != nil {
				return err
			}
		}
		pending, err := s.PendingEffect(ctx, uuid(i))
		if err != nil || pending == nil {
			return err
		}
	}
}

func testContext(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := sample(1)
	if _, err := s.Commit(ctx, node.Change{Insert: &n}); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: got %v, want %v", err, context.Canceled)
	}
	if _, err := s.Nodes(ctx, node.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("list: got %v, want %v", err, context.Canceled)
	}
	all, err := s.Nodes(t.Context(), node.Query{})
	check(t, err)
	equal(t, 0, len(all))
}

func testClosed(t *testing.T, s store.Store) {
	n := insert(t, s, sample(1))
	check(t, s.Close())
	if _, err := s.Commit(t.Context(), node.Change{Save: &n}); err == nil {
		t.Error("a commit after Close was accepted")
	}
	if _, err := s.Node(t.Context(), n.UUID); err == nil {
		t.Error("a read after Close was answered")
	}
}
