package api

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Hosts keeps the documents that nodes are made of. Its answers are *node.Refusal for a request that needs the
// header X-Ferrite-Force.
type Hosts interface {
	RefuseVerb(ctx context.Context, n node.Node, r plan.Request) error
	RefuseForget(ctx context.Context, n node.Node) error
}

// noHosts is a conductor without documents.
type noHosts struct{}

func (noHosts) RefuseVerb(context.Context, node.Node, plan.Request) error { return nil }
func (noHosts) RefuseForget(context.Context, node.Node) error             { return nil }

// unlessForced calls refuse, unless the request is forced.
func unlessForced(c *rest.Call, refuse func(ctx context.Context) error) error {
	if c.Forced {
		return nil
	}
	return refuse(c.Request().Context())
}
