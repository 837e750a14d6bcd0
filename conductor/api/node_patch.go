package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func (h *nodeResource) patchNode(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{"reset_interfaces"}); err != nil {
		return err
	}
	ops, err := c.Patch()
	if err != nil {
		return err
	}
	reset, err := resetInterfaces(c, ops)
	if err != nil {
		return err
	}
	if err := h.fields.Patchable(c.Minor, ops); err != nil {
		return err
	}
	n, err = h.conductor.UpdateNode(c.Request().Context(), n.UUID, func(n *node.Node) error {
		if err := h.permitPatch(c, ops, n); err != nil { // it may be another's by now
			return err
		}
		if reset {
			n.Interfaces = nil
		}
		was, _ := n.Machine()
		name, parent := n.Name, n.ParentNode
		maintenance, shown, info, instance := n.Maintenance, n.InstanceInfo["display_name"], n.DriverInfo, n.InstanceInfo
		if err := h.fields.Apply(c, ops, n); err != nil {
			return err
		}
		if err := errors.Join(permitName(c, name, n.Name), h.resolveParent(c, parent, n),
			checkPasswordAgain(info, n.DriverInfo, ops), checkPullSecretAgain(instance, n.InstanceInfo, ops)); err != nil {
			return err
		}
		if err := h.checkMachine(c, was, n, namesMachine(ops)); err != nil {
			return err
		}
		if slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == "deploy_interface" }) {
			n.KeepDeploy()
		}
		if maintenance && !n.Maintenance {
			n.MaintenanceReason, n.Fault = "", ""
		}
		// Clients older than 1.104 name the instance by display_name.
		if name, ok := n.InstanceInfo["display_name"].(string); ok && n.InstanceName == "" && name != shown {
			runes := []rune(name)
			n.InstanceName = string(runes[:min(len(runes), rest.MaxText)])
		}
		return nil
	})
	if err != nil {
		return h.nameMachine(c, err)
	}
	return h.answerNode(c, http.StatusOK, &n, "")
}

// permitPatch refuses a patch of a node that the caller may not change, or of a field with a stricter rule.
func (h *nodeResource) permitPatch(c *rest.Call, ops []rest.Operation, n *node.Node) error {
	if err := h.permit(c, c.Rule, n, noNode(n.UUID)); err != nil {
		return err
	}
	if err := h.permitFields(c, "/v1/nodes/:node", ops, n.Owner, n.Lessee); err != nil || c.Caller == nil {
		return err
	}
	owner := slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == "owner" })
	if owner && n.ProvisionState == node.Active &&
		!h.Rules.Of(http.MethodPatch, "/v1/nodes/:node", "owner while active").Allows(c.Caller, n.Owner, n.Lessee) {
		return node.Refuse(node.Conflict, "Cannot update owner of node %q while it is in state %q.", n.UUID, n.ProvisionState)
	}
	return nil
}

// resetInterfaces reads ?reset_interfaces=, with which a change of driver puts
// every interface the patch does not name back to the new driver's default.
func resetInterfaces(c *rest.Call, ops []rest.Operation) (bool, error) {
	if !c.QueryParams().Has("reset_interfaces") {
		return false, nil
	}
	if c.Minor < 45 {
		return false, rest.NotAcceptable()
	}
	reset, err := rest.ParseBool("reset_interfaces", c.QueryParam("reset_interfaces"))
	if err != nil || !reset {
		return false, err
	}
	if !slices.ContainsFunc(ops, func(o rest.Operation) bool { return o.Field() == "driver" }) {
		return false, rest.BadRequest("The reset_interfaces parameter can only be used when changing the node's driver.")
	}
	return true, nil
}
