package host

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unused are the states of nodes without a workload on their machine.
var unused = map[node.State]bool{
	node.Enroll: true, node.Verifying: true, node.Manageable: true, node.Available: true,
	node.Inspecting: true, node.InspectWait: true, node.InspectFailed: true,
	node.Cleaning: true, node.CleanWait: true, node.CleanHold: true, node.CleanFailed: true,
}

// Foreign is the reason why a node that was found for a host by its name or an address must not be used for it; "" for
// a node that may. A host may switch off, clean and delete its node, and an equal name alone does not justify that: any
// user may give a node any name. Documents are the system's, so a project's node never belongs to one; otherwise its
// owner would control the host's BMC.
func Foreign(h hostapi.Host, n node.Node) string {
	named := n.Name == hostapi.NodeName(h.Namespace, h.Name)
	idle := unused[n.ProvisionState] && n.InstanceUUID == ""
	switch {
	case h.Status.Provisioning.ID == n.UUID, h.UID != "" && n.InstanceUUID == h.UID:
		return ""
	case n.Owner != "" || n.Lessee != "":
		return fmt.Sprintf("node %s has the name or the boot MAC address of this host, and belongs to project %s: have the "+
			"node renamed or deleted, or give the host another name", cmp.Or(n.Name, n.UUID), cmp.Or(n.Owner, n.Lessee))
	case h.DeletionTimestamp != nil && (!idle || !named): // it was never taken over
	case idle, h.Spec.ExternallyProvisioned:
		return ""
	}
	return fmt.Sprintf("node %s has the name or the boot MAC address of this host, is %q and in use by another owner: "+
		"say spec.externallyProvisioned to take it over as it runs, or give the host another name", cmp.Or(n.Name, n.UUID),
		n.ProvisionState)
}
