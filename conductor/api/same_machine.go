package api

import (
	"errors"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// forceMachine describes the machines that requests may name only with force.
const forceMachine = "a BMC and system that another node has"

// refuseSameMachine refuses a node with the machine of another node: either would wipe it while the other runs a
// workload. The other is named to callers that may see it. Nodes that are one machine already stay so. The store
// refuses it too, at the moment of writing, except beside a node that shares its machine.
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
			if others[i].UUID == n.UUID || node.Related(&n, &others[i]) || !has || !machine.Same(other) {
				continue
			}
			return (&node.MachineTakenError{Machine: machine}).Refusal(h.nameFor(c, &others[i]))
		}
	}
	return nil
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

// nameMachine names the other node in a refusal of the store, to callers that may see it.
func (h *nodeResource) nameMachine(c *rest.Call, err error) error {
	var taken *node.MachineTakenError
	if !errors.As(err, &taken) || taken.Other == "" {
		return err
	}
	other, missing := h.conductor.Node(c.Request().Context(), taken.Other)
	if missing != nil { // deleted just now
		return err
	}
	return taken.Refusal(h.nameFor(c, &other))
}

// namesMachine reports whether a patch names the machine of a node.
func namesMachine(ops []rest.Operation) bool {
	return slices.ContainsFunc(ops, func(o rest.Operation) bool {
		return o.Field() == "driver" || o.Field() == "driver_info"
	})
}

// checkMachine refuses a patch that gives a node the machine of another. With force, a patch that names the machine
// makes the node share it. The sharing ends when a patch without force names another machine.
func (h *nodeResource) checkMachine(c *rest.Call, was node.Machine, n *node.Node, named bool) error {
	is, _ := n.Machine()
	switch {
	case named && c.Forced:
		n.SharesMachine = true
	case is != was:
		n.SharesMachine = false
		return h.refuseSameMachine(c, *n)
	}
	return nil
}
