package host

import (
	"cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// manageService changes the firmware of a machine at work, if its host's policy allows. It does so while the machine is
// off and about to be switched on (returns), in the middle of a reboot. A machine that an annotation keeps off stays
// off. over reports whether the power may be managed now.
//
// A service that has ended is over even if the BMC does not show the wanted values: the rest, and later wishes, wait
// for the next reboot. A workload is interrupted once.
func (d *decision) manageService(returns bool) (over bool) {
	st, f := &d.h.Status, d.firmwareChange(d.onReboot())
	failed := st.ErrorType == hostapi.ServicingError
	ours := failed || st.OperationalStatus == hostapi.StatusServicing
	switch d.facts.Node.ProvisionState {
	case node.Active:
		switch {
		case failed && f.Asked() && !d.retryDue():
			d.awaitRetry()
			return false
		case failed && f.Asked(), !ours && f.Asked() && returns:
			return d.startService(f)
		case ours:
			d.succeeded()
		}
		return true
	case node.Servicing, node.ServiceWait, node.ServiceHold, node.ServiceFailed:
		if !ours && !f.Asked() { // an operator has asked for it, by the node
			return true
		}
		d.continueService(f)
		return false
	default:
		if ours {
			d.unexpected(hostapi.ServicingError)
		}
		return !ours
	}
}

// startService asks for it; over when there is nothing to be done after all.
func (d *decision) startService(f firmware.Change) (over bool) {
	d.recordUpdates(f)
	steps := f.Steps()
	if len(steps) == 0 {
		if d.h.Status.ErrorType == hostapi.ServicingError {
			d.succeeded()
		}
		return true
	}
	d.doService(Provision{plan.Request{Verb: node.Service, ServiceSteps: steps}})
	return false
}

// continueService looks after a service that is under way, or has failed. A service that
// is no longer wanted is ended.
func (d *decision) continueService(f firmware.Change) {
	n := d.facts.Node
	switch failed := n.ProvisionState == node.ServiceFailed; {
	case n.ProvisionState == node.Servicing, !failed && f.Wanted:
		d.waitForNode()
		d.h.Status.OperationalStatus = hostapi.StatusServicing
	case !f.Wanted:
		d.doService(verb(node.Abort))
	case !d.failOrRetry(hostapi.ServicingError, cmp.Or(n.LastError, "the service failed, and the node does not say why")):
		if _, updates := d.onReboot(); updates {
			d.forgetUpdates()
		}
	case n.Maintenance:
		d.doKeepingError(SetMaintenance{}, hostapi.ServicingError)
	case len(f.Steps()) == 0: // it has all come to be as wanted: back to work
		d.doService(verb(node.Abort))
	default:
		d.startService(f)
	}
}

// doService asks for something that is a part of a service: the host is serviced
// until its node is back at work.
func (d *decision) doService(a Action) {
	d.do(a, hostapi.ServicingError)
	d.h.Status.OperationalStatus = hostapi.StatusServicing
}
