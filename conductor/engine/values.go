package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// powerBecomes asks at least once, and again until the machine is as wanted
// or the time is over.
func (j *job) powerBecomes(ctx context.Context, want node.PowerState, within time.Duration) (bool, error) {
	end := j.Now().Add(within)
	for wait := powerPollFirst; ; wait = min(2*wait, max(powerPollMost, within/powerPollPart)) {
		call, cancel := context.WithTimeout(ctx, bmcCall)
		is, err := j.Vitals.ReadVitals(call, j.bmc, j.n)
		cancel()
		if err != nil {
			return false, fmt.Errorf("read the power state: %w", err)
		}
		if is.Power == want {
			return true, nil
		}
		if !j.Now().Before(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(wait):
		}
	}
}
