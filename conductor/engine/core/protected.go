package core

import "github.com/ferrite-metal/ferrite/conductor/node"

// checkProtected refuses to protect a node that has no workload, and drops the
// reason of a protection that ends.
func checkProtected(old node.Node, n *node.Node) error {
	switch {
	case n.Protected == old.Protected:
	case !n.Protected:
		n.ProtectedReason = ""
	case n.ProvisionState != node.Active && n.ProvisionState != node.Rescue:
		return node.Refuse(node.Conflict,
			"Node %s can only be made protected in provision states 'active' or 'rescue', the current state is '%s'", n.UUID,
			n.ProvisionState)
	}
	if n.ProtectedReason != old.ProtectedReason && n.ProtectedReason != "" && !n.Protected {
		return node.Refuse(node.Invalid, "The protected_reason field can only be set when protected is True")
	}
	return nil
}

// checkRetired refuses to retire a node that could be given away any moment, and
// drops the reason of a retirement that ends.
func checkRetired(old node.Node, n *node.Node) error {
	switch {
	case n.Retired == old.Retired:
	case !n.Retired:
		n.RetiredReason = ""
	case n.ProvisionState == node.Available:
		return node.Refuse(node.Conflict,
			"Node %s can not have 'retired' set in provision state 'available', the current state is '%s'", n.UUID,
			n.ProvisionState)
	}
	if n.RetiredReason != old.RetiredReason && n.RetiredReason != "" && !n.Retired {
		return node.Refuse(node.Invalid, "The retired_reason field can only be set when retired is True")
	}
	return nil
}
