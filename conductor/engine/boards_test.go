package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

var errSilent = errors.New("no route to the BMC")

// boards are BMCs with recorded calls and injected faults. They answer at once by default.
type boards struct {
	*world
	commits atomic.Int64 // writes of the conductor

	mu     sync.Mutex
	silent func(nth int) bool // whether the nth reading of a node gets no answer
	dead   map[string]bool    // nodes with a BMC that keeps its caller waiting until it gives up
	slow   time.Duration      // how long a reading takes
	deaf   bool               // changes of power are accepted and not obeyed
	awake  bool               // operating systems do not shut down

	reads  map[string][]time.Time // when each node's power was read
	sets   []node.PowerState      // requested power states
	asking map[string]int         // readings under way, by address
	most   int                    // readings under way at a time
	crowd  int                    // of the same address at a time
}

// newBoards makes a world with boards as its redfish BMCs, and a store that counts.
func newBoards(t *testing.T) *boards {
	b := &boards{world: newWorld(t, 1), reads: map[string][]time.Time{}, asking: map[string]int{}}
	b.drive = func(core.BMC) core.BMC { return b }
	b.faults = func(m *mortal) core.Store { return &counted{m, &b.commits} }
	return b
}

// counted is a store that counts writes.
type counted struct {
	*mortal
	commits *atomic.Int64
}

func (c *counted) Commit(ctx context.Context, ch node.Change) (node.Node, error) {
	c.commits.Add(1)
	return c.mortal.Commit(ctx, ch)
}

func (b *boards) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *boards) PowerState(ctx context.Context, n node.Node) (node.PowerState, error) {
	addr, ok := n.DriverInfo["redfish_address"].(string)
	if !ok {
		addr = n.UUID
	}
	b.mu.Lock()
	b.reads[n.UUID] = append(b.reads[n.UUID], time.Now())
	b.asking[addr]++
	total := 0
	for _, k := range b.asking {
		total += k
	}
	b.most, b.crowd = max(b.most, total), max(b.crowd, b.asking[addr])
	slow, silent, nth := b.slow, b.silent, len(b.reads[n.UUID])
	if b.dead[n.UUID] {
		slow = time.Hour
	}
	b.mu.Unlock()
	defer b.set(func() { b.asking[addr]-- })
	power := b.powerOf(n.UUID)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(slow):
	}
	if silent != nil && silent(nth) {
		return "", errSilent
	}
	return power, nil
}

func (b *boards) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	b.mu.Lock()
	b.sets = append(b.sets, target)
	deaf := b.deaf || b.awake && target == node.SoftPowerOff
	b.mu.Unlock()
	if deaf {
		return nil
	}
	return b.world.SetPower(ctx, n, target)
}

func (b *boards) powerOf(uuid string) node.PowerState {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	return b.of(uuid).power
}

// push presses the machine's own power button.
func (b *boards) push(uuid string, p node.PowerState) {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	b.of(uuid).power = p
}

// readings says how often a node's power was read.
func (b *boards) readings(uuid string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reads[uuid])
}

// pauses are the times between the readings of a node.
func (b *boards) pauses(uuid string) (out []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, at := range b.reads[uuid][1:] {
		out = append(out, at.Sub(b.reads[uuid][i]))
	}
	return out
}

// pressed returns the power states that BMCs were asked for.
func (b *boards) pressed() []node.PowerState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sets)
}

// managed makes a node with a verified BMC, and forgets the calls.
func (b *boards) managed() node.Node {
	b.t.Helper()
	n := b.ask(b.create("redfish").UUID, node.Manage, node.Manageable)
	b.set(func() { clear(b.reads) })
	b.commits.Store(0)
	return n
}

// node reads a node.
func (b *boards) node(uuid string) node.Node {
	b.t.Helper()
	n, err := b.e.Node(b.ctx, uuid)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// monitored returns the severities of the power sync's history entries.
func (b *boards) monitored(uuid string) (severities []string) {
	b.t.Helper()
	all, err := b.e.History(b.ctx, uuid)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range all {
		if h.EventType == "monitoring" {
			severities = append(severities, h.Severity)
		}
	}
	return severities
}

// wrote checks how many changes were written since the last check.
func (b *boards) wrote(want int64, when string) {
	b.t.Helper()
	if got := b.commits.Swap(0); got != want {
		b.t.Errorf("%s: %d changes were written, want %d", when, got, want)
	}
}
