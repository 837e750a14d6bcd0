package api

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Hosts keeps the documents that nodes are made of.
type Hosts interface {
	// RefuseVerb returns a *node.Refusal for a request that needs the header X-Ferrite-Force. plan.Forget stands for the
	// deletion of the node's record.
	RefuseVerb(ctx context.Context, n node.Node, r plan.Request) error
}

// refuseUnforced refuses a request that the node's host does not allow, unless it is forced.
func (h *access) refuseUnforced(c *rest.Call, n node.Node, r plan.Request) error {
	if c.Forced || h.hosts == nil {
		return nil
	}
	return h.hosts.RefuseVerb(c.Request().Context(), n, r)
}
