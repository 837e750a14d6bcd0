package host

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// DefaultProvisioningLimit is how many nodes may be busy at a time, as in Metal3.
const DefaultProvisioningLimit = 20

// busyHostStates are those in which a host makes its node one of the busy.
var busyHostStates = map[hostapi.State]bool{
	hostapi.StateInspecting: true, hostapi.StateProvisioning: true, hostapi.StateDeprovisioning: true,
}

// BusyStates are the states of nodes that count for the limit.
var BusyStates = map[node.State]bool{
	node.Cleaning: true, node.CleanWait: true, node.Inspecting: true, node.InspectWait: true,
	node.Deploying: true, node.DeployWait: true, node.Deleting: true,
}

// capacity: fewer nodes are busy than may be, or this one is among them.
func (d *decision) capacity() bool {
	return d.facts.ProvisioningLimit <= 0 || d.facts.BusyNodes < d.facts.ProvisioningLimit || d.facts.Node != nil && BusyStates[d.facts.Node.ProvisionState]
}

// delay leaves the host as it was: others first.
func (d *decision) delay() {
	d.h.Status = d.base
	d.h.Status.OperationalStatus = hostapi.StatusDelayed
	d.Action, d.Hardware, d.Components = nil, nil, nil
	d.RequeueAt = d.facts.Now.Add(backOff(d.h.UID, 1))
}

// admit lets a host that was delayed go on once there is room, or once it is to be
// deleted: what needs none of that waits for nobody. What had failed before that
// has failed still.
func (d *decision) admit() bool {
	if d.h.Status.OperationalStatus != hostapi.StatusDelayed {
		return true
	}
	if !d.beingDeleted() && !d.capacity() {
		d.delay()
		return false
	}
	d.h.Status.OperationalStatus = hostapi.StatusOK
	if d.h.Status.ErrorType != "" {
		d.h.Status.OperationalStatus = hostapi.StatusError
	}
	return true
}
