package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// PowerArgs is the args of every effect that changes power.
type PowerArgs struct {
	Target         node.PowerState `json:"target"`
	TimeoutSeconds float64         `json:"timeout_seconds,omitempty"`
	GraceSeconds   float64         `json:"grace_seconds,omitempty"` // how long the machine may take to go off by itself
	Once           bool            `json:"once,omitempty"`          // the caller tries again itself
}

// powerChange is the chore that a power request leads to. The power sync, where it is to
// force the record upon a machine, has the same pending effect.
type powerChange struct {
	plain
	PowerArgs
}

// powerAfter is the state a target leads to.
var powerAfter = map[node.PowerState]node.PowerState{
	node.PowerOn:       node.PowerOn,
	node.PowerOff:      node.PowerOff,
	node.SoftPowerOff:  node.PowerOff,
	node.Rebooting:     node.PowerOn,
	node.SoftRebooting: node.PowerOn,
}

// handle takes an operator's power target.
func (r PowerRequest) handle(d *decision) error {
	if powerAfter[r.Target] == "" {
		return node.Refuse(node.Invalid,
			"power target %q is unknown: it is one of power on, power off, rebooting, soft power off, soft rebooting", r.Target)
	}
	change := d.powerChange(r.Target, r.Timeout)
	change.Once = r.Once
	if r.Overtake && r.Target == node.PowerOff {
		d.overtake()
	}
	if err := d.requestChore(d.restart(change)); err != nil {
		return err
	}
	d.recordSwitch(r)
	return nil
}

// recordSwitch notes a power request in the history, and in the activity that it interrupts: a wait for a machine that
// was switched off looks like a machine that does not boot.
func (d *decision) recordSwitch(r PowerRequest) {
	text := string(r.Target) + " requested"
	if d.n.Run != nil {
		waiting := d.n.Run.Waiting
		if step := d.n.Run.Current(); waiting == "" && step != nil {
			waiting = step.String()
		}
		d.n.Run.Switched = fmt.Sprintf("%s was requested by %s at %s, while %s waited for %s", r.Target,
			cmp.Or(r.User, "an operator"), d.now.UTC().Format("15:04:05 MST"), d.n.Run.Activity, waiting)
		text += ", while " + d.n.Run.Activity + " waits for " + waiting
	}
	d.noteChore("INFO", changePower, text)
}

// overtake ends the wait for the operating system to shut down. The running effect is fenced off from its outcome: it
// has already sent its request, and only reads the power from then on.
func (d *decision) overtake() {
	if d.f.ShutDown == nil {
		return
	}
	d.f.EffectPending, d.overtaken = false, d.f.ShutDown
	d.noteChore("INFO", ShutDown, "the machine is switched off at once, before its operating system has shut down")
}

// powerChange is a change to target; timeout 0 means the default of its kind.
func (d *decision) powerChange(target node.PowerState, timeout time.Duration) powerChange {
	s := d.f.Settings
	switch {
	case timeout > 0:
	case ByHand(d.n):
		timeout = s.PersonTimeout
	case target == node.SoftPowerOff || target == node.SoftRebooting:
		timeout = s.SoftPowerOffTimeout
	default:
		timeout = PatienceOf(d.n, s).Power
	}
	return powerChange{PowerArgs: PowerArgs{Target: target, TimeoutSeconds: timeout.Seconds()}}
}

// ByHand reports whether a person switches the machine of n: it has no BMC.
func ByHand(n node.Node) bool { return n.Implementation("power") == "agent" }

// PowerTimeoutOf is how long a power change of n may take.
func PowerTimeoutOf(n node.Node, s Settings) time.Duration {
	if ByHand(n) {
		return s.PersonTimeout
	}
	return PatienceOf(n, s).Power
}

// PatienceOf is how long the BMC and the machine of n are waited for: as its driver_info
// says, and else as the settings do.
func PatienceOf(n node.Node, s Settings) node.Patience {
	p, given := node.DefaultPatience(), s.BMC
	for _, t := range node.PatienceSettings() {
		if is := *t.Of(&given); is > 0 {
			*t.Of(&p) = is
		}
	}
	own, err := n.Patience(p)
	if err != nil { // of a node from before the check
		return p
	}
	return own
}

// The effects of power changes. A soft power-off has a name of its own, because it lasts as long as the operating
// system takes.
const (
	changePower = "power.request"
	ShutDown    = "power.shut_down"
)

func (p powerChange) effect() string {
	if p.Target == node.SoftPowerOff {
		return ShutDown
	}
	return changePower
}

// changesPower reports whether a chore switches the machine.
func changesPower(chore string) bool {
	return chore == changePower || chore == ShutDown || chore == returnEffect
}

// check refuses the requests that Ironic refuses while cleaning: a power cut could leave a disk half wiped.
func (p powerChange) check(d *decision) error {
	switch {
	case d.n.ProvisionState == node.Cleaning || d.n.ProvisionState == node.CleanWait:
		return node.Refuse(node.InvalidState,
			"The requested action %q can not be performed on node %q while it is in state %q.", p.Target, d.n.UUID,
			d.n.ProvisionState)
	case p.Target != node.PowerOn && d.uninterruptible():
		return node.Refuse(node.InvalidState,
			"The requested action %q can not be performed on node %q while step %s is under way, which must not be cut off.",
			p.Target, d.n.UUID, d.n.Run.Current())
	case d.n.DisablePowerOff && powerAfter[p.Target] == node.PowerOff:
		return node.Refuse(node.Conflict,
			"Failed to set node power state to %s. Node %s has disable_power_off set: it may be powered on and rebooted only.",
			p.Target, d.n.UUID)
	}
	return d.checkPowerOn(p)
}

// begin forgets the agent at once, as in Ironic: a failed power change may have ended its boot anyway.
func (p powerChange) begin(d *decision) {
	if p.Target != node.PowerOn {
		d.forgetAgent()
		d.n.Agent.Since = d.now
	}
	d.n.TargetPowerState = powerAfter[p.Target]
}

func (p powerChange) done(d *decision) {
	d.pardon()
	d.setPower(powerAfter[p.Target], p.Target != node.PowerOn)
}

// failure leaves the known state as it is and does not put the node into
// maintenance.
func (p powerChange) failure() string { return fmt.Sprintf(powerFailed+"%q failed", p.Target) }

// powerFailed is the prefix of last_error after a failed power change.
const powerFailed = "power change to "

// PowerChangeFailed reports whether the last thing that went wrong with a node is
// a power change.
func PowerChangeFailed(n node.Node) bool { return strings.HasPrefix(n.LastError, powerFailed) }

// FailedPower is the command's word for the power change that failed last, such as on or soft-off; "" if the last
// failure is another.
func FailedPower(n node.Node) string {
	for target, word := range map[node.PowerState]string{node.PowerOn: "on", node.PowerOff: "off",
		node.SoftPowerOff: "soft-off", node.Rebooting: "reboot", node.SoftRebooting: "soft-reboot"} {
		if strings.HasPrefix(n.LastError, powerChange{PowerArgs: PowerArgs{Target: target}}.failure()) {
			return word
		}
	}
	return ""
}

// uninterruptible reports whether the machine is at a step that must not be cut off: a step of a framework with
// abortable steps that is not marked abortable.
func (d *decision) uninterruptible() bool {
	switch {
	case d.n.Run == nil || !d.busy():
		return false
	case d.n.Run.Activity == string(node.CleanSteps) || d.n.Run.Activity == string(node.ServiceSteps):
		return !d.n.Run.Current().Abortable
	}
	return false
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
