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
