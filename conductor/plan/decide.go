// Package plan decides the next act of a conductor: plain data in (a node, the facts around it, an event, the time),
// plain data out (the node as it is to be saved, and its one pending effect). One file per activity.
//
// It is pure: no I/O, no clock, no goroutine. Work in the world is named as a step; package engine carries steps out
// and comes back with an Outcome.
package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Decide returns everything that must be written because of e: the changed node, at most one effect, history. The
// change is nil when there is nothing to write. An error refuses the event (a *node.Refusal for requests) and changes
// nothing.
func Decide(n node.Node, f Facts, e Event, now time.Time) (*node.Change, error) {
	d := &decision{n: n.Clone(), f: f, now: now}
	if err := e.handle(d); err != nil {
		return nil, err
	}
	if _, abandoned := e.(Abandoned); d.err == nil && !abandoned {
		d.accountForErase(n.Run)
		d.collectAfter(n.Run, e)
		d.powerOffAfter(e)
		d.ejectAfter(n, e)
		d.setIdleDeadline()
		d.takeOver()
	}
	if d.err != nil {
		return nil, d.err
	}
	if !d.dirty {
		return nil, nil
	}
	return &node.Change{
		Finish: d.overtaken, Save: &d.n, Hurry: d.hurry, Effects: d.effects, History: d.history, Moves: d.moves,
		DropPorts: d.dropped, AddPorts: d.ports, SavePorts: d.rewired.ports, SavePortgroups: d.rewired.groups,
		Inspected: d.inspected, HardwareReport: d.hardware, PutEraseReport: d.erased, DropAllocation: node.Released(n, d.n),
	}, nil
}

// takeOver ends that the record of an imported node follows its machine: from the first work on it, the machine is
// this conductor's.
func (d *decision) takeOver() {
	if d.n.FollowsPower() && (d.n.Run != nil || d.n.Chore != "") {
		from := *d.n.Import
		from.FollowPower = false
		d.n.Import, d.dirty = &from, true
	}
}

// decision is the scratch pad of one Decide.
type decision struct {
	n         node.Node
	f         Facts
	now       time.Time
	dirty     bool
	hurry     bool     // the pending effect is no longer wanted: it falls due at once, and is dropped
	held      bool     // the request came to a held node, and its agent may be at hand
	doubts    []string // warnings of a request, for its run
	err       error    // a row the table lacks: a fault of ours, never a client's
	effects   []node.Effect
	history   []node.HistoryEntry
	moves     []node.Transition
	ports     []node.Port // new ones
	dropped   []string    // UUIDs of ports
	rewired   plugs
	inspected *node.Inspected
	hardware  *node.HardwareReport
	erased    *node.EraseReport // to be signed
	overtaken *node.Effect      // the pending effect, if nothing waits for it any longer
}

// fire moves the node along one row of the table.
func (d *decision) fire(e node.Event) {
	to, err := node.Next(d.n.ProvisionState, e)
	if err != nil {
		d.err = fmt.Errorf("plan: node %s in run %s: %w", d.n.UUID, d.activityName(), err)
		return
	}
	d.moves = append(d.moves, *node.Row(d.n.ProvisionState, e))
	at := d.now
	d.n.ProvisionState, d.n.ProvisionUpdatedAt = to, &at
	d.target()
	d.n.Deadline = time.Time{}
	d.dirty = true
}

// target is where the state leads; cleaning by hand leads back.
func (d *decision) target() {
	d.n.TargetProvisionState = node.States[d.n.ProvisionState].Target
	if d.n.Run != nil && d.n.Run.ByHand && d.n.TargetProvisionState != "" {
		d.n.TargetProvisionState = node.Manageable
	}
}

// enqueue gives the node one pending effect in the outside world.
func (d *decision) enqueue(name string, args any) {
	raw, err := json.Marshal(args)
	if err != nil {
		d.err = fmt.Errorf("plan: arguments of effect %s: %w", name, err)
		return
	}
	gen := int64(0)
	if d.n.Run != nil {
		gen = d.n.Run.Generation
	}
	d.effects = append(d.effects, node.Effect{Node: d.n.UUID, Generation: gen, Name: name, Args: raw, RunAt: d.now})
	d.dirty = true
}

// note adds a line to the node's history.
func (d *decision) note(severity, text string) {
	e := node.HistoryEntry{
		NodeUUID: d.n.UUID, CreatedAt: d.now, Severity: severity, EventType: d.activityName(), Event: nodeapi.Printable(text),
		State: d.n.ProvisionState, Target: d.n.TargetProvisionState, Conductor: d.f.Settings.ConductorName,
	}
	if since := d.n.ProvisionUpdatedAt; since != nil {
		lasted := int64(max(d.now.Sub(*since), 0) / time.Second)
		e.Duration = &lasted
	}
	d.history = append(d.history, e)
	d.dirty = true
}

func (d *decision) activityName() string {
	if d.n.Run == nil {
		return ""
	}
	return d.n.Run.Activity
}

// forgetAgent drops all that was known of the agent: its boot is over.
func (d *decision) forgetAgent() {
	d.n.Agent = node.Agent{Since: d.n.Agent.Since}
	d.f.AgentSeen = time.Time{}
	d.dirty = true
}
