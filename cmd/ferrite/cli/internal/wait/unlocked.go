package wait

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// lockedPatience is how long a node is waited for that the conductor is at work on, by a command without --wait.
const lockedPatience = 10 * time.Second

// Unlocked requests something of a node, again for some seconds while the conductor has it locked.
func Unlocked(ctx context.Context, node string, request func(context.Context, string) error) error {
	for until := time.Now().Add(lockedPatience); ; {
		err := request(ctx, node)
		if !client.Locked(err) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(FirstPoll):
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
