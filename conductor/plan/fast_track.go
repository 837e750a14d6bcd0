package plan

import (
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// With fast track the agent outlives an activity, so that the next one needs no boot:
// on a large server each boot takes minutes of firmware (Ironic's fast_track).

// idleStates are the states in which the agent of a finished activity waits for the next one.
var idleStates = map[node.State]bool{node.Enroll: true, node.Manageable: true, node.Available: true}

// keepOrPowerOff ends the ramdisk, unless its agent is kept. Then the run waits for the agent, because an inspection
// can end before its first heartbeat.
func keepOrPowerOff(d *decision, _ node.Step) bool {
	then := step("agent", "wait_for_heartbeat", nil)
	if _, ours := d.n.Run.Versions[ourManager]; !ours && !d.f.Settings.FastTrackAny {
		then = step("power", "power_off", nil)
	}
	d.insert(d.n.Run.Index+1, then)
	return false
}

// fastTracks reports whether an agent is kept for the next activity. With network interface neutron each activity has a
// network of its own, which the machine enters while it is off.
func (d *decision) fastTracks() bool { return FastTrack(d.n, d.f.Settings) && !Neutron(d.n) }

// FastTrack reports whether agents are kept at n: as driver_info/fast_track says, as in Ironic, or else the conductor.
func FastTrack(n node.Node, s Settings) bool {
	if own := n.DriverInfo["fast_track"]; own != nil {
		return truth(own)
	}
	return s.FastTrack
}

// agentAlive reports whether an agent of this boot has called recently enough to be given work without a boot. The
// agent of a failed run may still be at work on a command of that run: the next run boots afresh.
func (d *decision) agentAlive() bool {
	return d.n.Agent.URL != "" && !d.n.Agent.Doubted && !d.f.AgentSeen.IsZero() && d.n.PowerState == node.PowerOn &&
		d.now.Sub(d.f.AgentSeen) <= d.f.Settings.FastTrackTimeout
}

// agentAtHand reports whether an agent may be given work without a boot. After a restart of the conductor an agent that
// has not called yet counts, too: it is asked, and the ramdisk is booted if it does not answer.
func (d *decision) agentAtHand() bool {
	a := d.n.Agent
	return d.agentAlive() || a.URL != "" && !a.Doubted && d.f.AgentSeen.IsZero() && d.n.PowerState == node.PowerOn
}

// agentGone boots the ramdisk where the agent of an earlier activity cannot list its
// steps: nothing was done with it yet. It reports whether it does so.
func agentGone(d *decision, o Outcome) bool {
	r := d.n.Run
	if r.FirmwareStarts > 0 || r.Relisted > 0 {
		return false
	}
	d.note("WARNING", Clip(fmt.Sprintf("the agent at %s, kept since an earlier activity, cannot be used: %s; "+
		"the ramdisk is booted anew", d.n.Agent.URL, o.Failure)))
	d.forgetAgent()
	d.insert(r.Index, bootToAgent(d)...)
	d.advance()
	return true
}

// setIdleDeadline sets the time at which the machine of a kept agent is switched off, where
// none is set. A host's document says by itself whether its machine is on.
func (d *decision) setIdleDeadline() {
	s := d.f.Settings
	if d.dirty && d.idle() && d.n.Deadline.IsZero() && FastTrack(d.n, s) && s.FastTrackIdle > 0 && !d.n.OfHost() {
		d.n.Deadline = d.now.Add(s.FastTrackIdle)
	}
}

// idle reports whether the machine runs an agent that has nothing to do.
func (d *decision) idle() bool {
	return d.n.Run == nil && idleStates[d.n.ProvisionState] && d.n.Agent.URL != "" && d.n.PowerState == node.PowerOn &&
		!d.n.DisablePowerOff
}

// idled switches a machine off after its kept agent has been idle for long.
func (d *decision) idled() {
	switch {
	case !d.idle():
		return
	case d.f.EffectPending: // of a chore: that ends first
		d.n.Deadline = d.now.Add(5 * time.Second)
		return
	case d.n.Maintenance: // no power change in maintenance: try again later
		return
	}
	d.noteChore("INFO", changePower, fmt.Sprintf("the machine is switched off: its agent has had nothing to do for %s",
		d.f.Settings.FastTrackIdle))
	d.beginChore(d.powerChange(node.PowerOff, 0))
}

// firmwareStarts says for the history how often a run has started the machine through
// its firmware; "" for a run that has nothing to do with the machine's power.
func firmwareStarts(r node.Run) string {
	switch n := r.FirmwareStarts; {
	case n == 1:
		return ", 1 firmware start"
	case n > 1 || len(r.Versions) > 0:
		return fmt.Sprintf(", %d firmware starts", n)
	}
	return ""
}
