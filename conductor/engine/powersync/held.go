package powersync

import (
	"context"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// heldReadings are the latest readings while effects are held, by UUID of the node.
type heldReadings struct {
	mu   sync.Mutex
	last map[string]core.PowerReading
}

func (h *heldReadings) keep(uuid string, power node.PowerState, at time.Time, err error) {
	r := core.PowerReading{Power: power, At: at}
	if err != nil {
		r.Err = err.Error()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[uuid] = r
}

func (h *heldReadings) of(uuid string) (core.PowerReading, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.last[uuid]
	return r, ok
}

// poll is the interval at which the power of a node is read now; 0 for never.
func (e *Sync) poll(n node.Node) time.Duration {
	if e.Held() {
		return plan.PowerPollHeld(n, e.Settings)
	}
	return plan.PowerPoll(n, e.Settings)
}

// Resumed gives every node the turn that it has when nothing is held.
func (e *Sync) Resumed(ctx context.Context) {
	e.held.mu.Lock()
	clear(e.held.last)
	e.held.mu.Unlock()
	if err := e.scheduleAll(ctx); err != nil {
		return // logged; each node is noted when it is saved
	}
}
