package plan

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// abort ends a run at the operator's wish: at once, or after the step under
// way where that must not be cut off. From service failed, where nothing runs,
// the machine is taken back to its workload.
func (d *decision) abort() {
	r := d.n.Run
	switch {
	case r == nil:
		d.leaveService()
	case d.busy() && !r.Current().Abortable:
		r.AbortAfter = true
		d.note("INFO", fmt.Sprintf("abort of %s requested: it takes effect when step %s, which must not be cut off, is over",
			r.Activity, r.Current()))
	default:
		d.hurry = d.f.EffectPending
		d.endAborted()
	}
}

// busy reports whether a step is under way outside the conductor.
func (d *decision) busy() bool {
	s := d.n.Run.Current()
	return s != nil && (s.Driver || s.InBand && d.n.Run.Command != "")
}

// endAborted ends a waiting or held run. A step under way on the machine is
// not called back; the next power cycle ends it. Aborted is not failed: the
// node stays in service, as Ironic has it.
func (d *decision) endAborted() {
	r := *d.n.Run
	reason := fmt.Sprintf("%s aborted by request", r.Activity)
	if r.Waiting != "" {
		reason += " while waiting for " + r.Waiting
	}
	d.n.LastError = reason
	d.note("ERROR", reason)
	delete(d.n.InstanceInfo, rescueHash)
	d.n.Run = nil
	if d.n.ProvisionState.Class() == node.Working { // a step that had to end first has ended in our hands
		d.fire(node.Wait)
	}
	d.fire(node.Abort)
	if r.ByHand {
		d.n.TargetProvisionState = node.Manageable
	}
	if r.Activity == "service" { // the way out of service failed depends on whether the machine is in the ramdisk
		d.n.Agent.Doubted = d.n.Agent.URL != ""
		return
	}
	d.forgetAgent()
}

// leaveService ends a failed service. A machine that may still be in the
// ramdisk is restarted, into its own operating system.
func (d *decision) leaveService() {
	d.n.LastError = ""
	if d.n.Fault == serviceFault {
		d.n.Maintenance, d.n.MaintenanceReason, d.n.Fault = false, "", ""
	}
	d.fire(node.Abort)
	if !d.f.EffectPending && (inRamdisk(d.n) || d.inRamdiskNetwork()) {
		d.beginChore(d.restart(d.powerChange(node.Rebooting, 0)))
	}
}
