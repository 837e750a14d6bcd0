package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// MaxTries bounds the races one event may lose against other events of the
// same node.
const MaxTries = 20

// Act lets something happen to a node: facts, decision, one transaction. It
// begins again when another event was faster.
func (e *Core) Act(ctx context.Context, ref string, ev plan.Event) (node.Node, error) {
	return e.decide(ctx, ref, ev, nil)
}

func (e *Core) decide(ctx context.Context, ref string, ev plan.Event, finish *node.Effect) (node.Node, error) {
	if plan.NamesSystem(ev) {
		e.systems.Lock()
		defer e.systems.Unlock()
	}
	var taken *node.MachineTakenError
	for range MaxTries {
		n, err := e.Node(ctx, ref)
		if err == nil {
			err = node.CheckRevision(ctx, &n)
		}
		if err != nil {
			return n, err
		}
		facts, err := e.facts(ctx, n, finish)
		if err != nil {
			return n, err
		}
		facts.MachineTaken = taken
		if err := e.factsOf(ctx, n, ev, &facts); err != nil {
			return n, err
		}
		change, err := e.decideOnce(ctx, n, facts, ev)
		if err == nil {
			err = e.refuseHeld(ev, change)
		}
		if err != nil {
			return n, err
		}
		if change == nil && finish == nil {
			return n, nil
		}
		if change == nil {
			change = &node.Change{}
		}
		change.Was = &n
		overtakes := change.Finish != nil
		if finish != nil {
			change.Finish = finish
		}
		saved, err := e.Commit(ctx, *change)
		if errors.Is(err, node.ErrStale) || overtakes && errors.Is(err, node.ErrFenced) || errors.Is(err, node.ErrConflict) &&
			(len(change.AddPorts) > 0 || renames(n, change) || errors.As(err, &taken)) {
			continue // another event was faster, or another node has one of the addresses, the name or the machine
		}
		return saved, err
	}
	return node.Node{}, e.Locked(ref)
}

// decideOnce asks plan. Only then is it known which name inspection rules give the
// node: where another has it, that is a fact to decide by anew.
func (e *Core) decideOnce(ctx context.Context, n node.Node, facts plan.Facts,
	ev plan.Event) (change *node.Change, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.Error("nothing can be decided on a node", "node", n.UUID, "panic", p, "stack", string(debug.Stack()))
			change, err = nil, &undecidableError{n.UUID, p}
		}
	}()
	change, err = plan.Decide(n, facts, ev, e.Now())
	if err != nil || !renames(n, change) {
		return change, err
	}
	other, err := e.Store.Node(ctx, change.Save.Name)
	if errors.Is(err, node.ErrNotFound) || err == nil && other.UUID == n.UUID {
		return change, nil
	}
	if err != nil {
		return nil, err
	}
	facts.NameTaken = change.Save.Name
	return plan.Decide(n, facts, ev, e.Now())
}

// undecidableError is of a node that nothing can be decided on, as its row contradicts
// itself: it must not end the conductor of all the others.
type undecidableError struct {
	node  string
	fault any
}

func (e *undecidableError) Error() string {
	return fmt.Sprintf("a fault in this program, or in the row of node %s: %v; please report it with the log",
		e.node, e.fault)
}

func renames(n node.Node, change *node.Change) bool {
	return change != nil && change.Save != nil && change.Save.Name != "" && change.Save.Name != n.Name
}

// factsOf gathers what only this event needs to be known.
func (e *Core) factsOf(ctx context.Context, n node.Node, ev plan.Event, f *plan.Facts) (err error) {
	need := plan.Needs(n, ev)
	if f.Taken, err = e.Taken(ctx, n.UUID, need.Addresses); err != nil {
		return err
	}
	if len(need.Templates) > 0 {
		if f.Templates, err = e.Store.Catalogs().DeployTemplates.List(ctx, "name", need.Templates...); err != nil {
			return err
		}
	}
	if need.Rules {
		if f.Rules, err = e.Store.Catalogs().InspectionRules.List(ctx, "phase", node.MainPhase); err != nil {
			return err
		}
	}
	if need.LastWords && e.BootLogs != nil {
		f.LastWords = e.BootLogs.Tail(n.UUID, lastWords)
	}
	if need.HardwareReport {
		if f.HardwareReport, err = e.Store.HardwareReport(ctx, n.UUID); err != nil {
			return err
		}
	}
	if need.Counts {
		f.Counts = e.Memory.counts()
	}
	if need.Inventory {
		if f.Inventory, err = e.InventoryOf(ctx, n.UUID); err != nil {
			return err
		}
	}
	if need.Bonds {
		if f.Bonds, err = e.Store.Catalogs().Portgroups.List(ctx, "node_uuid", n.UUID); err != nil {
			return err
		}
	}
	if need.System != "" && !n.SharesMachine {
		if f.SameSystem, err = e.SameSystem(ctx, need.System); err != nil {
			return err
		}
	}
	f.Words, f.OwnDHCP = e.Proof.Words, e.Proof.Leases
	if f.OwnDHCP && need.Leased {
		f.Leased, err = e.Leased(ctx, n.UUID)
	}
	return err
}

// lastWords is how many lines of a machine's log an error quotes.
const lastWords = 3

// Taken finds which addresses are ports of other nodes.
func (e *Core) Taken(ctx context.Context, uuid string, macs []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, mac := range macs {
		ports, err := e.Store.Ports(ctx, node.PortQuery{Address: mac})
		if err != nil {
			return nil, fmt.Errorf("ports with address %s: %w", mac, err)
		}
		if len(ports) > 0 && ports[0].NodeUUID != uuid {
			out[mac] = true
		}
	}
	return out, nil
}

// facts gathers what plan may know besides the node. Whatever changes later
// raises the node's revision, so a commit on old facts is refused as stale. An
// effect that is to be finished is pending still, or the commit is fenced off.
func (e *Core) facts(ctx context.Context, n node.Node, finish *node.Effect) (plan.Facts, error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: n.UUID})
	if err != nil {
		return plan.Facts{}, fmt.Errorf("ports of node %s: %w", n.UUID, err)
	}
	pending := finish
	if pending == nil {
		if pending, err = e.Store.PendingEffect(ctx, n.UUID); err != nil {
			return plan.Facts{}, fmt.Errorf("effects of node %s: %w", n.UUID, err)
		}
	}
	f := plan.Facts{Ports: ports, Settings: e.Settings, EffectPending: pending != nil, LogsMissing: e.logsMissing(n)}
	if pending != nil && pending.Name == plan.ShutDown {
		f.ShutDown = pending
	}
	f.Offers = e.offers(n)
	_, f.ReportsHardware = e.BMCs[n.Driver].(HardwareReporter)
	if n.Run != nil {
		if err := e.Recall(ctx, n); err != nil {
			return plan.Facts{}, err
		}
	}
	e.Memory.facts(n.UUID, &f)
	if f.BootStage == "" && n.Run != nil && e.Started.After(n.Run.Since) {
		f.BootStage = fmt.Sprintf("none since this conductor started at %s", e.Started.UTC().Format("15:04:05"))
	}
	return f, nil
}

// complete fills in what only the edge can, and the event that tells of the change.
func (e *Core) complete(ctx context.Context, c *node.Change) error {
	c.Events = nil // of a try before
	for i := range c.History {
		by := userOf(ctx)
		c.History[i].UUID, c.History[i].User, c.History[i].Project = uuid.NewString(), by.name, by.project
	}
	for i := range c.AddPorts {
		if c.AddPorts[i].UUID == "" {
			c.AddPorts[i].UUID = uuid.NewString()
		}
	}
	now := e.Now()
	if c.Save != nil {
		c.Save.UpdatedAt = &now
	}
	if a := c.PutAllocation; a != nil && a.Revision > 0 {
		a.UpdatedAt = &now
	}
	if c.PutEraseReport != nil {
		if err := e.signEraseReport(c.PutEraseReport, now); err != nil {
			return err
		}
	}
	if event, ok := e.changeEvent(ctx, c, now); ok {
		c.Events = append(c.Events, event)
	}
	return nil
}

// Commit writes a change, fills what only the edge can (identifiers, signatures),
// and wakes whoever has to do with it.
func (e *Core) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	if err := e.complete(ctx, &c); err != nil {
		return node.Node{}, err
	}
	began, asked := time.Now(), e.Now()
	saved, err := e.Store.Commit(ctx, c)
	e.Observer.Committed(time.Since(began), err)
	if err != nil {
		return saved, err
	}
	by := userOf(ctx)
	e.Traces.Decided(ctx, &c, saved, asked, by.name, by.project)
	trace(ctx, &c, saved)
	if e.Told != nil && len(c.Events) > 0 {
		e.Told()
	}
	e.logMoves(&c, saved, by.name)
	if c.Insert != nil {
		e.Memory.forget(saved.UUID) // of a deleted node that had the same UUID
	}
	if c.Delete != "" {
		e.Memory.forget(c.Delete)
		e.turns.with(func(l *lanes.Lanes) { l.Drop(c.Delete) })
		for _, f := range e.followers {
			f.Deleted(c.Delete)
		}
	}
	if c.Hurry {
		e.turns.with(func(l *lanes.Lanes) { l.Hurry(saved.UUID) })
		Wake(e.wakeRun)
	}
	if c.Save != nil || c.Insert != nil {
		for _, f := range e.followers {
			f.Saved(saved, c.Insert != nil)
		}
		pending := e.Memory.saved(saved, effectChangeOf(c))
		e.noteDeadline(saved.Deadline)
		if pending != nil {
			e.later(saved.UUID, plan.AgentCalled{Heartbeat: *pending})
		}
	}
	if len(c.Effects) > 0 {
		e.put(saved, c.Effects)
		Wake(e.wakeRun)
	}
	if saved.UUID = cmp.Or(saved.UUID, c.Delete); e.Changed != nil && saved.UUID != "" {
		e.Changed(saved)
	}
	return saved, nil
}

// logMoves writes one line for each change of state: what a person wants to know of a decision.
func (e *Core) logMoves(c *node.Change, saved node.Node, user string) {
	for _, m := range c.Moves {
		line := []any{"node", saved.UUID, "name", saved.Name, "from", m.From, "on", m.On, "to", m.To, "why", m.Why}
		if user != "" {
			line = append(line, "user", user)
		}
		if m.On == node.Fail {
			line = append(line, "reason", saved.LastError)
		}
		e.Log.Info("state", line...)
	}
}

func effectChangeOf(c node.Change) effectChange {
	switch {
	case len(c.Effects) > 0:
		return effectAdded
	case c.Finish != nil:
		return effectEnded
	}
	return effectUnchanged
}

// Remember fills memory with a node that this process has not saved yet.
func (e *Core) Remember(ctx context.Context, n node.Node) error {
	pending, err := e.Store.PendingEffect(ctx, n.UUID)
	if err != nil {
		return fmt.Errorf("effects of node %s: %w", n.UUID, err)
	}
	e.rememberAs(n, pending != nil)
	return nil
}

// rememberAs is remember, of a node of which it is known whether it has a pending effect.
func (e *Core) rememberAs(n node.Node, busy bool) {
	for _, f := range e.followers {
		f.Read(n)
	}
	d := effectEnded
	if busy {
		d = effectAdded
	}
	if pending := e.Memory.saved(n, d); pending != nil {
		e.later(n.UUID, plan.AgentCalled{Heartbeat: *pending})
	}
}

// later lets an event happen outside the request that brought it.
func (e *Core) later(ref string, ev plan.Event) {
	if e.stop.Err() != nil {
		return // what was to happen is found again by Recover
	}
	e.Running.Go(func() {
		if _, err := e.Act(e.stop, ref, ev); err != nil && e.stop.Err() == nil {
			e.Log.Error("event not taken", "node", ref, "event", fmt.Sprintf("%T", ev), "err", err)
		}
	})
}

// Node returns a node by UUID or name, and turns the store's errors into refusals.
func (e *Core) Node(ctx context.Context, ref string) (node.Node, error) {
	n, err := e.Store.Node(ctx, ref)
	if errors.Is(err, node.ErrNotFound) {
		return n, node.Refuse(node.NotFound, "Node %s could not be found.", ref)
	}
	return n, err
}
