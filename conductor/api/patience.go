package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Ironic's defaults of node_locked_retry_attempts and node_locked_retry_interval.
const (
	lockedTries    = 3
	lockedInterval = time.Second
)

// patience runs the handler of a request again while its node is locked, as Ironic's conductor does before it answers
// NodeLocked. A handler that finds the node locked has ended when the wait begins, so nothing is held meanwhile.
type patience struct {
	interval time.Duration
	stopping <-chan struct{}
}

// handle calls a handler until the node is not locked, three times at most. Requests for allocations run once: the
// engine looks for another node.
func (p patience) handle(c *rest.Call, handler func(*rest.Call) error) error {
	for n := 1; ; n++ {
		err := handler(c)
		var refusal *node.Refusal
		if n == lockedTries || !errors.As(err, &refusal) || refusal.Kind != node.Locked ||
			strings.Contains(c.Path(), "/allocation") {
			return err
		}
		if err := p.wait(c); err != nil {
			return err
		}
	}
}

// wait returns early, with an error, when the client goes away or the conductor
// stops.
func (p patience) wait(c *rest.Call) error {
	ctx, timer := c.Request().Context(), time.NewTimer(p.interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.stopping:
	case <-ctx.Done():
	}
	select {
	case <-p.stopping: // which may have ended ctx too
		return nodeapi.NewFault(http.StatusServiceUnavailable, "The conductor is stopping; please retry in a few seconds")
	default:
		return ctx.Err()
	}
}
