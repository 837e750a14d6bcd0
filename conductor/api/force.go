package api

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Hosts keeps the documents that nodes are made of.
type Hosts interface {
	// RefuseVerb returns a *node.Refusal for a request that needs the header X-Ferrite-Force. plan.Forget stands for the
	// deletion of the node's record. It may be called concurrently; an error of the store is returned as it is.
	RefuseVerb(ctx context.Context, n node.Node, r plan.Request) error
}

// noHosts are the hosts of an API without any.
type noHosts struct{}

func (noHosts) RefuseVerb(context.Context, node.Node, plan.Request) error { return nil }
