package host

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/translate"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A node can be changed behind its host: by a forced verb, or by a verb on a paused host. Nothing is then erased or
// written again without a request. The host is held in an error until the node is again as the host left it, or until
// an annotation asks to reprovision the machine.

// Asked is the request that a node was last changed by.
type Asked struct {
	Activity string // "delete", "deploy", "clean"
	User     string // "" where the API has no users
	At       time.Time
}

// workloadLost are the node's states after the loss of its machine's workload.
var workloadLost = map[node.State]bool{
	node.Deleting: true, node.Error: true, node.Available: true,
	node.Cleaning: true, node.CleanWait: true, node.CleanHold: true, node.CleanFailed: true,
	node.Deploying: true, node.DeployWait: true, node.DeployHold: true, node.DeployFailed: true,
	node.Inspecting: true, node.InspectWait: true, node.InspectFailed: true,
}

// workloadThere are the node's states while its machine has a workload, or is given one.
var workloadThere = map[node.State]bool{
	node.Deploying: true, node.DeployWait: true, node.DeployHold: true, node.DeployFailed: true, node.Active: true,
	node.Servicing: true, node.ServiceWait: true, node.ServiceHold: true, node.ServiceFailed: true,
	node.Rescuing: true, node.RescueWait: true, node.Rescue: true, node.RescueFailed: true,
	node.Unrescuing: true, node.UnrescueFailed: true,
}

// taken are the states in which a node is on its way to active without anything being written.
var taken = map[node.State]bool{node.Adopting: true, node.AdoptFailed: true, node.Active: true}

// drifted reports whether the host's workload was lost, and has not been replaced since. The condition keeps that over
// another registration: the new node does not show the disk's contents.
func (d *decision) drifted() bool {
	c := d.condition(hostapi.ConditionHealthy)
	return c != nil && c.Reason == WorkloadLost
}

// AsksWhoChanged reports whether a decision needs the last request that changed the node.
func AsksWhoChanged(facts Facts) bool {
	if facts.Node == nil {
		return false
	}
	d := begin(facts)
	return d.lostWorkload() != "" || d.foreignWorkload()
}

// lostWorkload is the reason why a provisioned host's machine does not run its workload; "" if it does. A node that was
// registered anew has its instance from the host (translate.NewNode); a node that was torn down has none.
func (d *decision) lostWorkload() string {
	if !d.isProvisioned() {
		return ""
	}
	n, runs := d.facts.Node, translate.ImageURL(d.h.Status.Provisioning.Image)
	ours, given := n.InstanceUUID == d.h.UID, runs != "" || d.h.Status.Provisioning.CustomDeploy != nil
	has := instanceImage(*n)
	switch s := n.ProvisionState; {
	case workloadLost[s]:
		return "its disk does not hold the workload of this host any more"
	case s == node.Manageable && (given && !ours || d.drifted()):
		return "its disk may not hold the workload of this host any more"
	case taken[s] && d.drifted() && given && !ours:
		return "its instance is not this host's"
	case s == node.Active && ours && runs != "" && has != "" && has != runs:
		return "its image is " + has
	}
	return ""
}

// instanceImage is the URL of the image that a node was deployed with; "" for none.
func instanceImage(n node.Node) string {
	for _, key := range []string{"image_source", "boot_iso"} {
		if url, ok := n.InstanceInfo[key].(string); ok && url != "" {
			return url
		}
	}
	return ""
}

// foreignWorkload reports whether the node has a workload that its host did not give it.
func (d *decision) foreignWorkload() bool {
	n := d.facts.Node
	switch d.state() {
	case hostapi.StateAvailable:
		return workloadThere[n.ProvisionState]
	case hostapi.StateProvisioning:
		return n.ProvisionState == node.Active && n.InstanceUUID != d.h.UID
	default:
		return false
	}
}

// holdLost holds a host with a machine that has lost its workload, and reports whether it does. A host that is to be
// reprovisioned goes on by way of deprovisioning.
func (d *decision) holdLost() bool {
	_, asked := d.annotated(hostapi.AnnotationReprovision)
	delete(d.h.Annotations, hostapi.AnnotationReprovision)
	why := d.lostWorkload()
	switch {
	case why == "":
		d.mended = true
		return false
	case asked && d.state() == hostapi.StateProvisioned:
		d.succeeded()
		d.fire(Cancelled)
		return true
	}
	try := fmt.Sprintf("to erase the machine and write the image again: ferrite host reprovision %s -n %s (annotation %s)",
		d.h.Name, d.h.Namespace, hostapi.AnnotationReprovision)
	if d.state() == hostapi.StateExternallyProvisioned {
		name := nodeLabel(*d.facts.Node)
		try = fmt.Sprintf("once the machine runs its workload: ferrite node manage %s, then ferrite node adopt %s", name,
			name)
	}
	d.hold(WorkloadLost, why, try)
	return true
}

// holdForeign holds a host with a machine that another client has deployed.
func (d *decision) holdForeign() bool {
	if !d.foreignWorkload() {
		if d.h.Status.ErrorType == hostapi.ProvisionedRegistrationError {
			d.succeeded()
		}
		return false
	}
	try := "to erase it: ferrite node undeploy " + nodeLabel(*d.facts.Node) + " --force"
	if d.state() == hostapi.StateAvailable {
		try = "to keep it, set spec.externallyProvisioned; " + try
	}
	d.hold(ForeignWorkload, "it runs a workload that is not of this host", try)
	return true
}

// hold is an error that ends with a change of the node or of the document. It is counted once.
func (d *decision) hold(reason, why, try string) {
	n, st := *d.facts.Node, &d.h.Status
	asked := d.facts.Asked.text()
	if n.ProvisionState == node.Active && n.InstanceUUID == d.h.UID { // the last deploy was our own
		asked = ""
	}
	message := fmt.Sprintf("node %s is %q%s: %s; %s", nodeLabel(n), n.ProvisionState, asked, why, try)
	if st.ErrorType != hostapi.ProvisionedRegistrationError {
		st.ErrorCount++
	}
	d.held = reason
	st.OperationalStatus, st.ErrorType, st.ErrorMessage = hostapi.StatusError,
		hostapi.ProvisionedRegistrationError, message
	if engaged(n) {
		d.RequeueAt = d.facts.Now.Add(waitRequeue)
		return
	}
	d.requeueLater()
}

// nodeLabel is the name of a node, or its UUID.
func nodeLabel(n node.Node) string { return cmp.Or(n.Name, n.UUID) }

// LastAsked is the request that ended the workload of a node, or gave it another, in its history, oldest first; nil
// for none. The cleaning that follows is part of the request.
func LastAsked(history []node.HistoryEntry) *Asked {
	for _, e := range slices.Backward(history) {
		if (e.EventType == "delete" || e.EventType == "deploy") && e.Event == e.EventType+" started" {
			return &Asked{Activity: e.EventType, User: e.User, At: e.CreatedAt}
		}
	}
	return nil
}

// text describes the request, its user and its time, in brackets.
func (a *Asked) text() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf(" (%s requested by %s at %s)", a.Activity, cmp.Or(a.User, "an operator"), moment(a.At))
}
