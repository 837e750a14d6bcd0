package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// handlePoweringOffBeforeDelete leaves a machine behind that rests, if that can be had.
func (d *decision) handlePoweringOffBeforeDelete() {
	switch {
	case d.h.Spec.DisablePowerOff:
		d.fire(PoweredOff)
		return
	case d.facts.Node == nil:
		d.fire(Forgotten)
		return
	}
	if !d.stopWork() {
		return
	}
	if !d.powerOff(hostapi.RebootHard) {
		return
	}
	d.succeeded()
	d.h.Status.PoweredOn = false
	d.fire(PoweredOff)
}

// stopWork ends work that prevents switching off. Automated cleaning is left to end by itself, with nothing left on the
// disks.
func (d *decision) stopWork() (stopped bool) {
	const t = hostapi.PowerManagementError
	n := d.facts.Node
	switch n.ProvisionState {
	case node.InspectWait, node.CleanHold:
		d.do(verb(node.Abort), t)
	case node.InspectFailed:
		d.do(verb(node.Manage), t)
	case node.CleanWait:
		if n.TargetProvisionState != node.Manageable && d.h.Spec.AutomatedCleaningMode != hostapi.CleaningDisabled {
			d.waitForNode()
			return false
		}
		d.do(verb(node.Abort), t)
	default:
		switch n.ProvisionState.Class() {
		case node.Working, node.Waiting:
			d.waitForNode()
		default:
			return true
		}
	}
	return false
}
