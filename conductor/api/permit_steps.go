package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth/oslopolicy"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// permitSteps refuses steps that the caller may not have done, where they are asked for. The steps of a runbook count
// if it belongs to a project. A runbook of the system, or a public one, is approved by an admin, as deploy templates
// are (Ironic's per-step rules).
func (h *access) permitSteps(c *rest.Call, n *node.Node, r *plan.Request) error {
	if c.Caller == nil {
		return nil
	}
	for field, steps := range map[string][]node.Step{"clean_steps": r.CleanSteps, "service_steps": r.ServiceSteps} {
		rule := h.Rules.Of(http.MethodPut, "/v1/nodes/:node/states/provision", field)
		if len(steps) > 0 && !rule.Allows(c.Caller, n.Owner, n.Lessee) {
			return rule.Denied()
		}
	}
	of := oslopolicy.Target{Kind: "node", Owner: n.Owner, Lessee: n.Lessee}
	for _, steps := range [][]node.Step{r.CleanSteps, r.DeploySteps, r.ServiceSteps} {
		if err := h.permitEach(c, steps, of); err != nil {
			return err
		}
	}
	if r.Runbook != nil && r.Runbook.Owner != "" && !r.Runbook.Public {
		return h.permitRunbook(c, r.Runbook, &of)
	}
	return nil
}

// permitRunbook refuses a runbook with a step that the caller may not have done on a node; nil: on any node at all.
func (h *access) permitRunbook(c *rest.Call, r *node.Runbook, on *oslopolicy.Target) error {
	if on == nil {
		on = &oslopolicy.Target{Kind: "node", Unread: true}
	}
	steps := make([]node.Step, len(r.Steps))
	for i, s := range r.Steps {
		steps[i] = s.Step
	}
	return h.permitEach(c, steps, *on)
}

// permitEach names all steps that the caller may not have done.
func (h *access) permitEach(c *rest.Call, steps []node.Step, on oslopolicy.Target) error {
	var denied []string
	for _, s := range steps {
		v := h.policy.Step(c.Caller, s.Interface, s.Step, on)
		if s.Interface == "vendor" {
			v = min(v, h.vendorRight(c, on))
		}
		if v == oslopolicy.Deny || v == oslopolicy.Unknown && !on.Unread {
			denied = append(denied, fmt.Sprintf("insufficient privileges to execute step %s on interface %s", s.Step,
				s.Interface))
		}
	}
	if denied == nil {
		return nil
	}
	return nodeapi.NewFault(http.StatusForbidden, "%s", strings.Join(denied, "; "))
}

// vendorRight is the verdict on a caller that requests a vendor's step. Such a step is a vendor method, and reaches
// past every check: an owner or a lessee could become a user of the BMC.
func (h *access) vendorRight(c *rest.Call, on oslopolicy.Target) oslopolicy.Verdict {
	rule := h.Rules.Of(http.MethodPost, "/v1/nodes/:node/vendor_passthru", "")
	switch {
	case c.Caller == nil, !on.Unread && rule.Allows(c.Caller, on.Owner, on.Lessee):
		return oslopolicy.Allow
	case on.Unread && rule.Conceivable(c.Caller):
		return oslopolicy.Unknown
	}
	return oslopolicy.Deny
}
