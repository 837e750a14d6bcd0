package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// DefaultProvisioningLimit is how many nodes may be busy at a time, as in Metal3.
const DefaultProvisioningLimit = 20

// busyHostStates are the states in which a host keeps its node busy.
var busyHostStates = map[hostapi.State]bool{
	hostapi.StateInspecting: true, hostapi.StateProvisioning: true, hostapi.StateDeprovisioning: true,
}

// BusyStates are the states of nodes that count for the provisioning limit.
var BusyStates = map[node.State]bool{
	node.Cleaning: true, node.CleanWait: true, node.Inspecting: true, node.InspectWait: true,
	node.Deploying: true, node.DeployWait: true, node.Deleting: true,
}

// ensureCapacity reports whether the host's node is busy already, or may become so.
// Otherwise it delays the host.
func (d *decision) ensureCapacity() bool {
	f := d.facts
	if f.ProvisioningLimit <= 0 || f.BusyNodes < f.ProvisioningLimit || f.Node != nil &&
		BusyStates[f.Node.ProvisionState] {
		return true
	}
	d.delay()
	return false
}

// delay leaves the host as it was until there is capacity.
func (d *decision) delay() {
	d.h.Status = d.base
	d.h.Status.OperationalStatus = hostapi.StatusDelayed
	d.Action, d.Hardware, d.Components = nil, nil, nil
	d.RequeueAt = d.facts.Now.Add(backOff(d.h.UID, 1))
}

// checkDelayedHost resumes a delayed host when there is capacity, or when it is being deleted: a deletion needs no
// capacity. An earlier error stays.
func (d *decision) checkDelayedHost() bool {
	if d.h.Status.OperationalStatus != hostapi.StatusDelayed {
		return true
	}
	if !d.beingDeleted() && !d.ensureCapacity() {
		return false
	}
	d.h.Status.OperationalStatus = hostapi.StatusOK
	if d.h.Status.ErrorType != "" {
		d.h.Status.OperationalStatus = hostapi.StatusError
	}
	return true
}
