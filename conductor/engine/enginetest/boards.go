package enginetest

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

// ErrSilent is the failure of a BMC that does not answer.
var ErrSilent = errors.New("no route to the BMC")

// Boards are BMCs with recorded calls and injected faults. They answer at once by default.
type Boards struct {
	*World
	Commits atomic.Int64 // writes of the conductor

	Mu     sync.Mutex
	Silent func(nth int) bool // whether the nth reading of a node gets no answer
	Dead   map[string]bool    // nodes with a BMC that keeps its caller waiting until it gives up
	Slow   time.Duration      // how long a reading takes
	Deaf   bool               // changes of power are accepted and not obeyed
	Awake  bool               // operating systems do not shut down

	Reads  map[string][]time.Time // when each node's power was read
	Sets   []node.PowerState      // requested power states
	asking map[string]int         // readings under way, by address
	Most   int                    // readings under way at a time
	Crowd  int                    // of the same address at a time
}

// NewBoards makes a world with boards as its redfish BMCs, and a store that counts.
func NewBoards(t *testing.T) *Boards {
	b := &Boards{World: New(t, 1), Reads: map[string][]time.Time{}, asking: map[string]int{}}
	b.Drive = func(core.BMC) core.BMC { return b }
	b.Faults = func(m *Mortal) core.Store { return &counted{m, &b.Commits} }
	return b
}

// counted is a store that counts writes.
type counted struct {
	*Mortal
	commits *atomic.Int64
}

func (c *counted) Commit(ctx context.Context, ch node.Change) (node.Node, error) {
	c.commits.Add(1)
	return c.Mortal.Commit(ctx, ch)
}

// Set changes b under its lock.
func (b *Boards) Set(change func()) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	change()
}

// PowerState notes the reading, and answers as the test configured it.
func (b *Boards) PowerState(ctx context.Context, n node.Node) (node.PowerState, error) {
	addr, ok := n.DriverInfo["redfish_address"].(string)
	if !ok {
		addr = n.UUID
	}
	b.Mu.Lock()
	b.Reads[n.UUID] = append(b.Reads[n.UUID], time.Now())
	b.asking[addr]++
	total := 0
	for _, k := range b.asking {
		total += k
	}
	b.Most, b.Crowd = max(b.Most, total), max(b.Crowd, b.asking[addr])
	slow, silent, nth := b.Slow, b.Silent, len(b.Reads[n.UUID])
	if b.Dead[n.UUID] {
		slow = time.Hour
	}
	b.Mu.Unlock()
	defer b.Set(func() { b.asking[addr]-- })
	power := b.PowerOf(n.UUID)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(slow):
	}
	if silent != nil && silent(nth) {
		return "", ErrSilent
	}
	return power, nil
}

// SetPower notes the request, and obeys unless b is deaf.
func (b *Boards) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	b.Mu.Lock()
	b.Sets = append(b.Sets, target)
	deaf := b.Deaf || b.Awake && target == node.SoftPowerOff
	b.Mu.Unlock()
	if deaf {
		return nil
	}
	return b.World.SetPower(ctx, n, target)
}

// PowerOf returns the power of a machine, without a reading.
func (b *Boards) PowerOf(uuid string) node.PowerState {
	b.World.Mu.Lock()
	defer b.World.Mu.Unlock()
	return b.Machine(uuid).Power
}

// Push presses the machine's own power button.
func (b *Boards) Push(uuid string, p node.PowerState) {
	b.World.Mu.Lock()
	defer b.World.Mu.Unlock()
	b.Machine(uuid).Power = p
}

// Readings says how often a node's power was read.
func (b *Boards) Readings(uuid string) int {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return len(b.Reads[uuid])
}

// Pauses are the times between the readings of a node.
func (b *Boards) Pauses(uuid string) (out []time.Duration) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for i, at := range b.Reads[uuid][1:] {
		out = append(out, at.Sub(b.Reads[uuid][i]))
	}
	return out
}

// Pressed returns the power states that BMCs were asked for.
func (b *Boards) Pressed() []node.PowerState {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return slices.Clone(b.Sets)
}

// Managed makes a node with a verified BMC, and forgets the calls.
func (b *Boards) Managed() node.Node {
	b.T.Helper()
	n := b.Ask(b.Create("redfish").UUID, node.Manage, node.Manageable)
	b.Set(func() { clear(b.Reads) })
	b.Commits.Store(0)
	return n
}

// Node reads a node.
func (b *Boards) Node(uuid string) node.Node {
	b.T.Helper()
	n, err := b.E.Node(b.Ctx, uuid)
	if err != nil {
		b.T.Fatal(err)
	}
	return n
}

// Monitored returns the severities of the power sync's history entries.
func (b *Boards) Monitored(uuid string) (severities []string) {
	b.T.Helper()
	all, err := b.E.History(b.Ctx, uuid)
	if err != nil {
		b.T.Fatal(err)
	}
	for _, h := range all {
		if h.EventType == "monitoring" {
			severities = append(severities, h.Severity)
		}
	}
	return severities
}

// Wrote checks how many changes were written since the last check.
func (b *Boards) Wrote(want int64, when string) {
	b.T.Helper()
	if got := b.Commits.Swap(0); got != want {
		b.T.Errorf("%s: %d changes were written, want %d", when, got, want)
	}
}
