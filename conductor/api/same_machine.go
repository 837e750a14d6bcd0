package api

import (
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// refuseSameMachine refuses a node whose settings name the machine of another node: either would wipe it while the
// other runs a workload. The other is named to callers who may see it. Nodes that are one machine already stay so.
func (h *nodeResource) refuseSameMachine(c *rest.Call, n node.Node) error {
	machine, ok := n.Machine()
	if !ok {
		return nil
	}
	for _, host := range n.BMCHosts() {
		others, err := h.conductor.NodesAt(c.Request().Context(), host)
		if unreadable := (*node.UnreadableError)(nil); errors.As(err, &unreadable) {
			continue // a damaged row does not block the others
		}
		if err != nil {
			return err
		}
		for i := range others {
			other, has := others[i].Machine()
			if others[i].UUID == n.UUID || related(&n, &others[i]) || !has || !machine.Same(other) {
				continue
			}
			return sameMachine(machine, h.nameFor(c, &others[i]))
		}
	}
	return nil
}

// related: a child, such as a network card with a computer of its own, may be reached by its parent's BMC.
func related(a, b *node.Node) bool {
	child := func(a, b *node.Node) bool {
		return a.ParentNode != "" && (a.ParentNode == b.UUID || a.ParentNode == b.Name)
	}
	return child(a, b) || child(b, a)
}

// nameFor is how a caller knows a node: by its name, or not at all.
func (h *nodeResource) nameFor(c *rest.Call, n *node.Node) string {
	switch {
	case !h.visible(c, n):
		return "another node"
	case n.Name == "":
		return "node " + n.UUID
	}
	return "node " + n.Name + " (" + n.UUID + ")"
}

func sameMachine(m node.Machine, other string) error {
	system := ""
	if m.System != "" {
		system = " and system /" + m.System
	}
	return node.Refuse(node.Conflict,
		"The BMC %s%s is that of %s already: correct the address or the system, or use that "+
			"node. For two nodes of one machine, send the header %s: true (ferrite: --force).", m.Endpoint, system, other,
		nodeapi.HeaderForce)
}
