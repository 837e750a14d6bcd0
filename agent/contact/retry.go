package contact

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Patience limits how long and how often lookup is tried.
type Patience struct {
	Timeout  time.Duration // of all attempts together
	Interval time.Duration // least pause between two
	Failed   func(error)   // called for each attempt that fails; may be nil
}

// maxPause is the longest pause between two attempts.
const maxPause = time.Minute

// busyPauses follow answers of 409: the node is locked and will not be for
// long.
func busyPauses() []time.Duration {
	return []time.Duration{5 * time.Second, 10 * time.Second, 30 * time.Second}
}

// LookupUntil looks up until the conductor knows the node or patience ends.
// macs is asked again each time, since interfaces may turn up.
func (c *Conductor) LookupUntil(
	ctx context.Context, macs func() []string, nodeUUID string, p Patience, log *slog.Logger,
) (agentapi.LookupReply, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	var last error
	busy := 0
	for attempt := 0; ; attempt++ {
		reply, err := c.lookupOnce(ctx, macs(), nodeUUID)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		pause := randomPause(p.Interval, attempt)
		if Status(err) == http.StatusConflict {
			pause = busyPauses()[min(busy, len(busyPauses())-1)]
			busy++
		}
		if p.Failed != nil {
			p.Failed(fmt.Errorf("lookup: %w", err))
		}
		log.Warn("lookup did not succeed", "err", err, "again_in", pause.Round(time.Millisecond))
		if !sys.Sleep(ctx, pause) {
			return reply, fmt.Errorf("lookup gave up after %s: %w", p.Timeout, last)
		}
	}
}

// lookupOnce asks for the version first: it decides about the fields of the request.
func (c *Conductor) lookupOnce(ctx context.Context, macs []string, nodeUUID string) (agentapi.LookupReply, error) {
	if _, err := c.Version(ctx); err != nil {
		return agentapi.LookupReply{}, err
	}
	return c.Lookup(ctx, macs, nodeUUID)
}

// randomPause is anywhere between the interval and its doubling with every
// attempt, so that a rack switched on together does not ask together.
func randomPause(interval time.Duration, attempt int) time.Duration {
	most := min(interval<<min(attempt+1, 16), maxPause)
	if most <= interval {
		return interval
	}
	return interval + rand.N(most-interval)
}

// Inspection is posted this often, with pauses that double from the first to
// the last.
const (
	inspectionAttempts   = 5
	inspectionFirstPause = 5 * time.Second
	inspectionLastPause  = 30 * time.Second
)

// InspectUntil hands over inspection data to the first of the URLs that takes
// it. A refusal (4xx but 409) is final; anything else is tried again.
func (c *Conductor) InspectUntil(
	ctx context.Context, urls []string, i agentapi.Inspection, log *slog.Logger,
) (agentapi.InspectionReply, error) {
	pause := inspectionFirstPause
	for attempt := 1; ; attempt++ {
		var err error
		for _, u := range urls {
			var reply agentapi.InspectionReply
			if reply, err = c.Inspection(ctx, u, i); err == nil {
				return reply, nil
			}
			if s := Status(err); s/100 == 4 && s != http.StatusConflict {
				return reply, err
			}
		}
		if attempt == inspectionAttempts {
			return agentapi.InspectionReply{}, fmt.Errorf("inspection data not taken in %d attempts: %w", attempt, err)
		}
		log.Warn("inspection data not taken", "err", err, "again_in", pause)
		if !sys.Sleep(ctx, pause) {
			return agentapi.InspectionReply{}, ctx.Err()
		}
		pause = min(2*pause, inspectionLastPause)
	}
}
