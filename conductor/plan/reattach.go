package plan

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// reattachNetworks is the service step that unbinds the VIFs of a node in Neutron, and binds them again. The switches
// are set up anew while the machine runs; the VIFs stay attached. It is Ironic's, of network interface neutron.
const reattachNetworks = "network.reattach_networking"

// reattaches reports whether a step is that one.
func reattaches(fw node.Framework, s node.Step) bool {
	return fw == node.ServiceSteps && !s.OnChildren && s.String() == reattachNetworks
}

// reattachStep is the row of the step in the table of steps.
func reattachStep() StepInfo {
	return StepInfo{Interface: "network", Step: "reattach_networking", Source: ByConductor,
		Priority: map[node.Framework]int{node.ServiceSteps: 0}}
}

// checkReattach refuses the step for a node without networks to attach again.
func checkReattach(n node.Node, s node.Step) error {
	switch {
	case !Neutron(n):
		return node.Refuse(node.Invalid, "step %s cannot be done on node %s: its network_interface is %s, and only neutron "+
			"has networks on switches that can be attached again", named(s), n.UUID, n.Implementation("network"))
	case len(s.Args) > 0:
		return node.Refuse(node.Invalid, "step %s takes no arguments: leave them out", named(s))
	}
	return nil
}

// reattachable refuses the step without a VIF, and among steps in the ramdisk: the machine is in the network of that
// ramdisk then.
func reattachable(d *decision, r Request) error {
	if !slices.ContainsFunc(r.steps(), func(s node.Step) bool { return reattaches(r.framework(), s) }) {
		return nil
	}
	if !r.noRamdisk() && d.needsRamdisk(r.framework(), r.steps()) {
		return node.Refuse(node.Invalid, "step %s cannot be done among steps that need the ramdisk: the machine of node %s "+
			"is in the network of the ramdisk then; service the node twice", reattachNetworks, d.n.UUID)
	}
	return vifAttached(d, r)
}
