package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Each does something to every name, and returns all errors.
func Each(names []string, do func(name string) error) error {
	var failed []error
	for _, name := range names {
		if err := do(name); err != nil {
			failed = append(failed, named(names, name, err))
		}
	}
	return errors.Join(failed...)
}

// All is Each, with all names at the same time.
func All(names []string, do func(name string) error) error {
	failed := make([]error, len(names))
	var running sync.WaitGroup
	for i, name := range names {
		running.Go(func() {
			if err := do(name); err != nil {
				failed[i] = named(names, name, err)
			}
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// named adds the name of the failed node, where there are several nodes and the error does not name it.
func named(names []string, name string, err error) error {
	if len(names) == 1 || strings.Contains(err.Error(), " node "+name+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// atATime is how many requests are made at a time.
const atATime = 4

// Some does something to every item, a few at a time.
func Some[T any](items []T, do func(T)) {
	var running errgroup.Group
	running.SetLimit(atATime)
	for _, item := range items {
		running.Go(func() error { do(item); return nil })
	}
	_ = running.Wait() // do returns none
}

// lockedPatience is how long a node is waited for that the conductor is at work on, by a command without --wait.
const lockedPatience = 10 * time.Second

// Pause waits for a time, or returns the error of ctx when that ends.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Unlocked requests something of a node, again for some seconds while the conductor has it locked.
func Unlocked(ctx context.Context, node string, request func(context.Context, string) error) error {
	for until := time.Now().Add(lockedPatience); ; {
		err := request(ctx, node)
		if !client.Locked(err) || time.Now().After(until) || Pause(ctx, FirstPoll) != nil {
			return err
		}
	}
}

// Do sends a request that changes a node or a part of one, as the client's Do, again for some seconds while the
// conductor has the node locked.
func Do(ctx context.Context, s *client.Session, method, path string, in, out any) error {
	return Unlocked(ctx, "", func(ctx context.Context, _ string) error {
		return s.Client.Do(ctx, method, path, in, out)
	})
}
