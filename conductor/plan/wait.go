package plan

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// PollArgs is the args of agent.poll: the command awaited.
type PollArgs struct {
	Command string `json:"command"`
}

// Needs the addresses our DHCP gave, when an agent says for the first time where it can be called.
func (AgentCalled) Needs(n node.Node) Need { return Need{Leased: n.Agent.URL == ""} }

// handle takes a heartbeat. Most of them change nothing and write
// nothing: only a new agent, a wait for its call, or a command under way make
// the node move.
func (e AgentCalled) handle(d *decision) error {
	a, hb := &d.n.Agent, e.Heartbeat
	if a.Token == "" && a.IsWord(hb.AgentToken) { // of ironic-python-agent: its boot's word is its token
		a.Token, a.TokenSent = hb.AgentToken, true
		d.dirty = true
	}
	if a.WordHash != "" && a.Token != hb.AgentToken { // a lookup was faster
		return node.Refuse(node.Invalid, "Invalid or missing agent token received.")
	}
	if a.URL != "" && a.URL != hb.CallbackURL {
		return node.Refuse(node.Invalid, "the agent of node %s calls from %s, but this boot's agent is at %s", d.n.UUID,
			hb.CallbackURL, a.URL)
	}
	if err := d.checkCallback(hb.CallbackURL); a.URL == "" && err != nil {
		return err
	}
	if a.URL == "" || a.VerifyCA != hb.AgentVerifyCA || a.Version != hb.AgentVersion {
		a.URL, a.Version, a.VerifyCA = hb.CallbackURL, hb.AgentVersion, hb.AgentVerifyCA
		d.dirty = true
	}
	r := d.n.Run
	s := r.Current()
	if s == nil || d.f.EffectPending || d.n.ProvisionState.Class() != node.Waiting {
		return nil
	}
	switch _, beat := waitsFor(r); {
	case beat, waitsIn(s, waitHeartbeat):
		d.next()
	case r.Command != "":
		d.poll()
	}
	return nil
}

// checkCallback refuses a new agent with a callback URL at an address that is not its machine's. Otherwise any holder
// of its token could send this conductor to any server on its network. If another DHCP server gives addresses, nothing
// follows from them.
func (d *decision) checkCallback(callback string) error {
	u, err := url.Parse(callback)
	if err != nil {
		return node.Refuse(node.Invalid, "the agent of node %s calls from %q, which is no URL", d.n.UUID, callback)
	}
	at, err := netip.ParseAddr(u.Hostname())
	if BootsByMedium(d.n) { // its address is not from our DHCP; the look-up has shown the boot's word
		if from := d.n.Agent.Caller; from != "" && (err != nil || at.Unmap().String() != from) {
			return node.Refuse(node.Invalid, "the agent of node %s wants to be called at %s, but its look-up came from %s",
				d.n.UUID, callback, from)
		}
		return nil
	}
	if d.f.OwnDHCP && (err != nil || !slices.Contains(d.f.Leased, at.Unmap().String())) {
		return node.Refuse(node.Invalid,
			"the agent of node %s wants to be called at %s, but the addresses leased to its machine are %v", d.n.UUID,
			callback, d.f.Leased)
	}
	return nil
}

// poll asks for the state of the command under way.
func (d *decision) poll() {
	if !d.f.EffectPending {
		d.enqueue("agent.poll", PollArgs{Command: d.n.Run.Command})
	}
}

// await enters the wait state of the activity and sets its deadline.
func (d *decision) await(why string) { d.awaitUntil(why, d.patience()) }

// patience is the time until which the party at work may be silent, and the step under way may last.
func (d *decision) patience() time.Time { return d.beforeStepEnd(d.now.Add(d.timeout())) }

func (d *decision) awaitUntil(why string, end time.Time) {
	if d.n.ProvisionState.Class() == node.Working {
		d.fire(node.Wait)
	}
	d.n.Run.Waiting = why
	d.n.Deadline = end
	d.dirty = true
}

// work leaves the wait state: our turn.
func (d *decision) work() {
	d.n.Deadline = time.Time{}
	if d.n.ProvisionState.Class() == node.Waiting {
		d.fire(node.Resume)
	}
}

func (d *decision) timeout() time.Duration {
	return activities[d.n.Run.Activity].timeout(d.f.Settings)
}

// waiting reports whether the run waits for another party. A child's run does so in any state of the child.
func (d *decision) waiting() bool {
	return d.n.Run != nil && d.n.ProvisionState.Class() == node.Waiting || d.childBusy()
}

// Needs the end of the machine's log, unless that is of another boot.
func (Expired) Needs(n node.Node) Need {
	return Need{LastWords: n.Agent.TokenSent, Inventory: Erases(n)}
}

// handle ends a wait, unless an agent at work on a step has called meanwhile: a long step is not a silent one. A call
// does not count if the agent was to send inspection data.
func (Expired) handle(d *decision) error {
	d.dirty = true
	d.n.Deadline = time.Time{}
	if !d.waiting() {
		d.idled()
		return nil
	}
	r := d.n.Run
	if timed, _ := waitsFor(r); timed {
		if d.f.EffectPending { // a power request: it ends first
			d.n.Deadline = d.now.Add(time.Second)
			return nil
		}
		d.next()
		return nil
	}
	if d.retryBoot() {
		return nil
	}
	if r.Command != "" && d.f.EffectPending { // the agent is being asked, or its power changed: that ends first
		d.n.Deadline = d.now.Add(5 * time.Second)
		return nil
	}
	d.hurry = d.f.EffectPending && r.Current() != nil && r.Current().Driver
	if err := d.overdue(); err != nil {
		d.failRun(err.Error())
		return nil
	}
	if next := d.agentLastSeen().Add(d.timeout()); r.Command != "" && next.After(d.now) {
		d.n.Deadline = d.beforeStepEnd(next)
		d.poll() // its call that the step is done may have been lost
		return nil
	}
	d.failRun(d.tooLate())
	return nil
}

// agentLastSeen is when the agent called last, or reported progress; zero for never.
func (d *decision) agentLastSeen() time.Time {
	if d.f.Progressed.After(d.f.AgentSeen) {
		return d.f.Progressed
	}
	return d.f.AgentSeen
}

// tooLate names the thing that was waited for in vain, and the progress of the machine.
func (d *decision) tooLate() string {
	r := d.n.Run
	reason := fmt.Sprintf("timed out after %s waiting for %s%s", d.timeout(), r.Waiting, inTries(r))
	if s := r.Current(); s != nil && s.Driver {
		return reason
	}
	none := "none, the machine never asked for an address"
	if BootsByMedium(d.n) {
		none = "none, the machine never read its boot medium"
	}
	reason += "; last boot stage seen: " + cmp.Or(d.f.BootStage, none)
	if len(d.f.LastWords) > 0 {
		reason += "; the last it logged: " + strings.Join(d.f.LastWords, " | ")
	}
	return reason
}

// Needs nothing, unless a tear-down goes on.
func (Restarted) Needs(n node.Node) Need {
	return Need{Bonds: tearsDown(n), Cleaning: undeploys(n), HardwareReport: undeploys(n)}
}

// handle gives a waiting node one full timeout, because calls were lost while the conductor was away. It also asks for
// a command that may have ended meanwhile.
func (Restarted) handle(d *decision) error {
	r := d.n.Run
	switch {
	case !Restarts(d.n, d.f.EffectPending):
	case d.n.ProvisionState.Class() == node.Waiting:
		if timed, _ := waitsFor(r); timed {
			d.goOnPausing()
			return nil
		}
		if !r.StepSince.IsZero() { // its progress meanwhile was not seen
			r.StepMoved = d.now
			if age := d.now.Sub(r.StepSince); age < 0 || age >= d.f.Settings.StepLimit { // the clock was set, maybe
				r.StepSince = d.now
			}
		}
		d.n.Deadline = d.patience()
		d.awaitBootAnew()
		d.dirty = true
		if r.Command != "" && d.n.Agent.URL != "" {
			d.poll()
		}
	default:
		d.advance()
	}
	return nil
}

// goOnPausing lets a pause last as long as requested. A pause that is over, or that would last longer than requested,
// begins again with its full time: the conductor was away for long, or its clock was set.
func (d *decision) goOnPausing() {
	span, _, err := waitSpan(*d.n.Run.Current())
	if left := d.n.Deadline.Sub(d.now); err == nil && (left <= 0 || left > span) {
		d.n.Deadline, d.dirty = d.now.Add(span), true
	}
}

// Restarts reports whether Restarted may change a node. A working node with an effect continues with that.
func Restarts(n node.Node, pending bool) bool {
	class := n.ProvisionState.Class()
	return n.Run != nil && (class == node.Waiting || class == node.Working && !pending)
}
