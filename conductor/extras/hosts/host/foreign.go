package host

import (
	"cmp"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unused are the states of nodes whose machines run nothing.
var unused = map[node.State]bool{
	node.Enroll: true, node.Verifying: true, node.Manageable: true, node.Available: true,
	node.Inspecting: true, node.InspectWait: true, node.InspectFailed: true,
	node.Cleaning: true, node.CleanWait: true, node.CleanHold: true, node.CleanFailed: true,
}

// Foreign says why a node that was found for a host, by its name or an address, is
// not to be taken for it; "" for one that is. A host may switch off, clean
// and delete its node, and an equal name alone is no reason for that: anybody may give his node any name. Documents
// are the system's, so that a node of a project is never theirs; its owner would have the host's BMC.
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
