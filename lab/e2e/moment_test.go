package e2e

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// momentPoll is how often a node is looked at that something is to be done to
// amid a step: some of those moments are short.
const momentPoll = 5 * time.Millisecond

// moment waits until a node is where something is to be done to it, and gives up
// when it has failed or is at rest beyond that.
func moment(ctx context.Context, s *site.Site, name string, come func(nodeapi.Status) bool) error {
	for {
		st, err := s.Status(ctx, name)
		if err != nil {
			return err
		}
		if come(st) {
			return nil
		}
		if st.State == "available" || st.State == "active" && st.Activity == "" || st.LastError != "" {
			return fmt.Errorf("the moment has passed, the node is %q %s", st.State, st.LastError)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("that moment never came, the node is %q at %s: %w", st.State, st.Step, ctx.Err())
		case <-time.After(momentPoll):
		}
	}
}
