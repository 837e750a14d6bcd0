package caution

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// atATime is how many nodes are looked for at a time.
const atATime = 4

// CheckNodes checks that all nodes exist, before it touches the first. A single node needs no check: its request fails
// anyway. The error names all nodes that are missing.
func CheckNodes(ctx context.Context, s *client.Session, names []string) error {
	if len(names) < 2 {
		return nil
	}
	return allThere(ctx, s, names)
}

// allThere is CheckNodes, of one node as well.
func allThere(ctx context.Context, s *client.Session, names []string) error {
	var mu sync.Mutex
	missing := map[string]error{}
	var running errgroup.Group
	running.SetLimit(atATime)
	for _, name := range names {
		running.Go(func() error {
			err := s.Client.Do(ctx, "GET", client.NodePath(name)+"?fields=uuid", nil, nil)
			if !client.NotFound(err) { // any other error the request itself meets, or has passed by then
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			missing[name] = err
			return nil
		})
	}
	_ = running.Wait() // none returns an error
	var all []error
	for _, name := range names {
		if err := missing[name]; err != nil {
			all = append(all, err)
			delete(missing, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if len(names) == 1 {
		return all[0]
	}
	return fmt.Errorf("%w\n  nothing was asked of the %d nodes", errors.Join(all...), len(names))
}
