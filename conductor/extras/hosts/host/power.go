package host

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// softTime is how long an operating system may take to shut down before it is
// switched off, as Metal3 has it.
const softTime = 180 * time.Second

// checkPowerChange waits while the power or the virtual drive of the node is being
// changed: the node is reserved. A machine that is shutting down may be switched off.
func (d *decision) checkPowerChange() bool {
	n := d.facts.Node
	switch {
	case n == nil || n.TargetPowerState == "" && n.Chore == "":
		return true
	case n.Chore == plan.ShutDown && d.mustPowerOff():
		d.doKeepingError(SetPower{Target: node.PowerOff, Once: true}, hostapi.PowerManagementError)
	default:
		d.RequeueAt = d.facts.Now.Add(waitRequeue)
	}
	return false
}

// mustPowerOff reports whether the host is being deleted and its machine is to be
// switched off before.
func (d *decision) mustPowerOff() bool {
	if !d.beingDeleted() || d.detachAsked() != nil || d.h.Status.OperationalStatus == hostapi.StatusDetached {
		return false
	}
	state := d.state()
	if to, err := Next(state, Delete); err == nil {
		state = to
	}
	return deletionPauses[state] > 0
}

// managePower keeps the machine on or off as the document says. The annotation for one reboot is removed when the
// machine is off and its DataImage is as wanted. An annotation with a key keeps the machine off until it is removed. A
// host that is not provisioned is rebooted only by a forced annotation.
func (d *decision) managePower() {
	st := &d.h.Status
	if p := d.facts.Node.PowerState; p == node.PowerOn || p == node.PowerOff {
		if on := p == node.PowerOn; on != st.PoweredOn {
			st.PoweredOn = on
			if st.ErrorType == hostapi.PowerManagementError {
				d.clearError()
			}
		}
	}
	if !d.driveReady() {
		return
	}
	if !st.PoweredOn {
		d.clearReboot()
	}
	mode, reboot := d.rebootAsked(!d.isProvisioned())
	want := d.h.Spec.Online && !reboot
	if d.isProvisioned() && !d.manageService(want && d.facts.Node.PowerState == node.PowerOff) {
		return
	}
	if d.h.Spec.DisablePowerOff {
		d.manageWithoutPowerOff(mode, reboot)
		return
	}
	switch {
	case st.PoweredOn == want:
		d.powerReached()
	case want:
		d.powerOn()
	default:
		if st.ErrorCount > 0 { // it was asked politely before
			mode = hostapi.RebootHard
		}
		d.powerOff(mode)
	}
}

// isProvisioned reports whether the machine runs a workload, of ours or external.
func (d *decision) isProvisioned() bool {
	return d.state() == hostapi.StateProvisioned || d.state() == hostapi.StateExternallyProvisioned
}

// powerReached: the machine is as it is to be.
func (d *decision) powerReached() {
	switch d.h.Status.ErrorType {
	case "", hostapi.PowerManagementError, hostapi.ProvisioningError:
		d.succeeded()
	default:
	}
	d.requeueLater()
}

// manageWithoutPowerOff keeps a machine on that must not be switched off. A reboot becomes a reset, and a request to
// keep the machine off has no effect.
func (d *decision) manageWithoutPowerOff(mode hostapi.RebootMode, reboot bool) {
	switch _, once := d.annotated(hostapi.AnnotationReboot); {
	case !d.h.Status.PoweredOn && d.h.Spec.Online:
		d.powerOn()
	case reboot && once:
		if d.setPower(map[hostapi.RebootMode]node.PowerState{hostapi.RebootSoft: node.SoftRebooting,
			hostapi.RebootHard: node.Rebooting}[mode]) {
			d.clearReboot()
		}
	default:
		d.powerReached()
	}
}

func (d *decision) powerOn() {
	if n := d.facts.Node; plan.PowerChangeFailed(*n) && !d.failOrRetry(hostapi.PowerManagementError, n.LastError) {
		return
	}
	d.setPower(node.PowerOn)
}

// powerOff brings the machine down; true when it is. A soft power-off that
// fails becomes a hard one.
func (d *decision) powerOff(mode hostapi.RebootMode) (off bool) {
	n := d.facts.Node
	if n.PowerState == node.PowerOff {
		return true
	}
	if plan.PowerChangeFailed(*n) {
		reason := n.LastError
		if mode == hostapi.RebootSoft {
			reason = "the machine did not shut down, and is switched off the next time: " + reason
		}
		if !d.failOrRetry(hostapi.PowerManagementError, reason) {
			return false
		}
		mode = hostapi.RebootHard
	}
	target := node.PowerOff
	if mode == hostapi.RebootSoft {
		target = node.SoftPowerOff
	}
	d.setPower(target)
	return false
}

// setPower asks for a power state, unless the node is busy with something that
// needs the machine as it is.
func (d *decision) setPower(target node.PowerState) (asked bool) {
	if engaged(*d.facts.Node) {
		d.waitForNode()
		return false
	}
	a := SetPower{Target: target, Once: d.triesCounted()}
	if target == node.SoftPowerOff || target == node.SoftRebooting {
		a.Timeout = softTime
	}
	d.do(a, hostapi.PowerManagementError)
	return true
}
