package powersync

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Sync reads the power state of every machine in its turn.
type Sync struct {
	*core.Core
	schedule *schedule
	sensors  reports
	held     heldReadings
	wakeRead chan struct{}
}

// New makes a Sync that listens to a core.
func New(c *core.Core) *Sync {
	p := &Sync{Core: c, schedule: newSchedule(c.PowerWorkers), wakeRead: make(chan struct{}, 1),
		sensors: newReports(), held: heldReadings{last: map[string]core.PowerReading{}}}
	c.Listen(p)
	c.LastRead, c.PowerNow = p.schedule.lastRead, p.held.of
	return p
}

// Committed gives a written node its turn, and takes it from a deleted one. At the start scheduleAll gives all stored
// nodes their turn.
func (e *Sync) Committed(_ context.Context, c *node.Committed) {
	if c.Insert != nil {
		e.schedule.forget(c.Saved.UUID) // of a deleted node that had the same UUID
	}
	if c.Delete != "" {
		e.schedule.forget(c.Delete)
		e.sensors.forget(c.Delete)
	}
	if c.Wrote() {
		e.schedulePower(c.Saved)
	}
}

// readPause is the shortest sleep of the power sync. The turns that come due meanwhile are read from the store
// together: to read ten thousand nodes one at a time would cost several times as much.
const readPause = 250 * time.Millisecond

// Run reads the power of every machine in its turn, until ctx ends. It
// reserves no node, and writes only when plan says that a reading changes
// something.
func (e *Sync) Run(ctx context.Context) {
	for e.scheduleAll(ctx) != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(core.PollEvery):
		}
	}
	slots := make(chan struct{}, e.PowerWorkers)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var warned time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wakeRead:
		case <-timer.C:
		}
		pause := readPause
		for free := cap(slots) - len(slots); free > 0 && ctx.Err() == nil; free = cap(slots) - len(slots) {
			due, wait := e.schedule.take(e.Now(), min(free, page))
			if len(due) == 0 {
				pause = max(wait, readPause)
				break
			}
			warned = e.warnLate(due[0], warned)
			e.readTurns(ctx, due, slots)
		}
		timer.Reset(pause)
	}
}

// readTurns looks up the nodes that are due and reads them side by side.
func (e *Sync) readTurns(ctx context.Context, due []reading, slots chan struct{}) {
	nodes := map[string]node.Node{}
	var q node.Query
	for _, r := range due {
		q.UUIDs = append(q.UUIDs, r.uuid)
	}
	found, err := e.Store.Nodes(ctx, q)
	if err = e.Readable(err); err != nil && ctx.Err() == nil {
		e.Log.Error("power states not read: the nodes cannot be looked up; their next turn is another chance", "nodes",
			len(due), "err", err)
	}
	for _, n := range found {
		if e.Ours(&n) { // it may have been moved
			nodes[n.UUID] = n
		}
	}
	for _, r := range due {
		n, ok := nodes[r.uuid]
		if !ok {
			if err == nil { // deleted while the schedule was made
				e.schedule.forget(r.uuid)
			}
			e.schedule.done(r, e.Now())
			continue
		}
		slots <- struct{}{}
		e.Running.Go(func() {
			e.readTurn(ctx, n)
			sooner := e.schedule.done(r, e.Now())
			full := len(slots) == cap(slots) // then others may be due as well
			<-slots
			if sooner || full {
				core.Wake(e.wakeRead)
			}
		})
	}
}

// page bounds how many nodes are in memory at a time while the schedule is
// made.
const page = 200

// scheduleAll gives every stored node its turn. A node that is saved meanwhile is noted by its save, with a later
// revision.
func (e *Sync) scheduleAll(ctx context.Context) error {
	ours := node.Query{ConductorGroup: e.Group, WithChildren: true, Limit: page}
	err := e.EachNode(ctx, ours, func(n *node.Node) { e.schedulePower(*n) })
	if err != nil && ctx.Err() == nil {
		e.Log.Error("power states are not read yet: the nodes cannot be listed; tried again in a second", "err", err)
	}
	return err
}

// schedulePower gives a node its turn, or takes it away, by how it is now.
func (e *Sync) schedulePower(n node.Node) {
	every := e.poll(n)
	if _, enabled := e.BMCs[n.Driver]; !enabled || !e.Ours(&n) {
		every = 0
	}
	if e.schedule.note(n, every, e.Now()) {
		core.Wake(e.wakeRead)
	}
}

// lateAgain is how often the log says that readings come late.
const lateAgain = 10 * time.Minute

func (e *Sync) warnLate(r reading, warned time.Time) time.Time {
	now := e.Now()
	if r.late < 2*r.every || now.Sub(warned) < lateAgain {
		return warned
	}
	e.Log.Warn("power states are read late: read more of them at a time, or less often", "late", r.late.Round(time.Second),
		"at-a-time", e.PowerWorkers)
	return now
}

// readTurn reads one machine's power and acts on the reading.
func (e *Sync) readTurn(ctx context.Context, n node.Node) {
	bmc := e.BMCs[n.Driver]
	if bmc == nil || e.poll(n) == 0 {
		return
	}
	if n.PowerState == "" && bmc.Validate(n) != nil {
		return // no operator has configured its BMC yet
	}
	call, cancel := context.WithTimeout(ctx, e.Patience(n).Request)
	defer cancel()
	began := e.Now()
	found, err := e.ReadVitals(call, bmc, n)
	if ctx.Err() != nil {
		return // the end of the conductor says nothing about a BMC
	}
	e.Called(n, e.Now().Sub(began), err)
	if e.Held() { // readings are shown, and change nothing
		e.held.keep(n.UUID, found.Power, e.Now(), err)
		return
	}
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	read := e.schedule.count(n, found, failure, e.Now())
	if read.Failures == 1 {
		e.Log.Warn("power state not read; it stays as recorded", "node", n.UUID, "power", n.PowerState, "err", err)
	}
	if !plan.PowerNews(n, read, e.Settings) {
		if err == nil {
			e.readFirmware(ctx, bmc, n)
			e.readSensors(ctx, bmc, n)
		}
		return
	}
	after, err := e.Act(ctx, n.UUID, read)
	switch {
	case errors.Is(err, node.ErrNotFound):
		e.schedule.forget(n.UUID)
	case err != nil && ctx.Err() == nil:
		e.Log.Error("power state not synced; the node's next turn is another chance", "node", n.UUID, "err", err)
	case err != nil:
	case after.Maintenance && !n.Maintenance:
		e.Log.Warn("node put into maintenance", "node", n.UUID, "reason", after.MaintenanceReason)
	case n.Maintenance && !after.Maintenance:
		e.Log.Info("node is back from maintenance", "node", n.UUID, "power", after.PowerState)
	}
}

// ReadVitals asks a BMC for the power state, and in the same call for the machine's health if the driver supports it.
// It remembers the time. A driver that panics has failed: see guard.
func (e *Sync) ReadVitals(ctx context.Context, bmc core.BMC, n node.Node) (v node.Vitals, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			e.Log.Error("reading the power state panicked", "node", n.UUID, "panic", fault, "stack", string(debug.Stack()))
			v, err = node.Vitals{},
				node.Refuse(node.Invalid, "a fault in this program: %v; please report it with the log", fault)
		}
	}()
	if m, ok := bmc.(core.Monitor); ok {
		v, err = m.Vitals(ctx, n)
	} else {
		v.Power, err = bmc.PowerState(ctx, n)
	}
	switch {
	case err != nil:
		return node.Vitals{}, err
	case v.Power == node.PowerError:
		return node.Vitals{}, fmt.Errorf("the BMC of node %s answers %q for the power state, expected %q or %q", n.UUID,
			v.Power, node.PowerOn, node.PowerOff)
	}
	if v.Power != "" {
		e.schedule.seen(n.UUID, e.Now())
	}
	return v, nil
}
