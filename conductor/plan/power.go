package plan

import (
	"encoding/json"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// powerEffect is the effect of a power request. It belongs to no run: power
// changes leave the provision state alone.
const powerEffect = "power.request"

// PowerArgs is the args of every effect that changes power.
type PowerArgs struct {
	Target         node.PowerState `json:"target"`
	TimeoutSeconds float64         `json:"timeout_seconds,omitempty"`
	GraceSeconds   float64         `json:"grace_seconds,omitempty"` // how long the machine may take to go off by itself
}

// powerAfter is the state a target leads to.
var powerAfter = map[node.PowerState]node.PowerState{
	node.PowerOn:       node.PowerOn,
	node.PowerOff:      node.PowerOff,
	node.SoftPowerOff:  node.PowerOff,
	node.Rebooting:     node.PowerOn,
	node.SoftRebooting: node.PowerOn,
}

// requestPower takes an operator's power target. Ironic refuses it while
// cleaning, where a power cut could leave a disk half wiped.
func (d *decision) requestPower(r PowerRequest) error {
	after, ok := powerAfter[r.Target]
	switch {
	case !ok:
		return node.Refuse(node.Invalid, "power target %q is unknown: it is one of power on, power off, rebooting, soft power off, soft rebooting", r.Target)
	case d.f.Owed:
		return d.locked()
	case d.n.ProvisionState == node.Cleaning || d.n.ProvisionState == node.CleanWait:
		return node.Refuse(node.InvalidState, "The requested action %q can not be performed on node %q while it is in state %q.", r.Target, d.n.UUID, d.n.ProvisionState)
	case r.Target != node.PowerOn && d.uninterruptible():
		return node.Refuse(node.InvalidState, "The requested action %q can not be performed on node %q while step %s is under way, which must not be cut off.", r.Target, d.n.UUID, d.n.Run.Current())
	case d.n.DisablePowerOff && after == node.PowerOff:
		return node.Refuse(node.Conflict, "Failed to set node power state to %s. Node %s has disable_power_off set: it may be powered on and rebooted only.", r.Target, d.n.UUID)
	}
	d.pardon()
	d.owePower(r.Target, r.Timeout)
	return d.err
}

// uninterruptible reports whether the machine is at a step of a framework in
// which steps say whether they may be cut off, and this one did not.
func (d *decision) uninterruptible() bool {
	switch {
	case d.n.Run == nil || !d.busy():
		return false
	case d.n.Run.Activity == string(node.CleanSteps) || d.n.Run.Activity == string(node.ServiceSteps):
		return !d.n.Run.Current().Abortable
	}
	return false
}

// owePower begins a power change; timeout 0 means the default of its kind. The
// agent is forgotten at once, as in Ironic: a change that is not seen to
// succeed may have ended its boot all the same.
func (d *decision) owePower(target node.PowerState, timeout time.Duration) {
	s := d.f.Settings
	switch {
	case timeout > 0:
	case target == node.SoftPowerOff || target == node.SoftRebooting:
		timeout = s.SoftPowerOffTimeout
	default:
		timeout = s.PowerTimeout
	}
	if target != node.PowerOn {
		d.forgetAgent()
	}
	d.n.TargetPowerState = powerAfter[target]
	d.owe(powerEffect, PowerArgs{Target: target, TimeoutSeconds: timeout.Seconds()})
}

// powerRequested records how a power request ended. A failure leaves the
// known state as it is and does not put the node into maintenance.
func (d *decision) powerRequested(o Outcome) {
	var args PowerArgs
	if err := json.Unmarshal(o.Effect.Args, &args); err != nil {
		o.Failure = "the arguments of the power request cannot be read: " + err.Error()
	}
	d.n.TargetPowerState = ""
	d.dirty = true
	if o.Failure != "" {
		d.n.LastError = "power change to \"" + string(args.Target) + "\" failed: " + Clip(o.Failure)
		d.note("ERROR", d.n.LastError)
		return
	}
	d.pardon()
	d.setPower(powerAfter[args.Target], args.Target != node.PowerOn)
}

// pardon clears last_error, but not where it says why the node is in a failed
// state: power mends nothing of that.
func (d *decision) pardon() {
	if d.n.ProvisionState.Class() != node.Failed {
		d.n.LastError = ""
	}
}

// setPower records a power state; the agent does not outlive a cut.
func (d *decision) setPower(p node.PowerState, cut bool) {
	d.n.PowerState = p
	if cut {
		d.forgetAgent()
	}
	d.dirty = true
}

// PowerAfter is the state a power target leads to; "" for an unknown target.
func PowerAfter(target node.PowerState) node.PowerState { return powerAfter[target] }
