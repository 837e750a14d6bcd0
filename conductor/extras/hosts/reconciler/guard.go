package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// RefuseVerb is the reason to refuse a verb on a node unless it is forced: the node has a host. The error is a
// node.Refusal, or an error of the store.
func (r *Reconciler) RefuseVerb(ctx context.Context, n node.Node, request plan.Request) error {
	h, err := r.hostBefore(ctx, n)
	if h == nil || err != nil {
		return err
	}
	return host.RefuseUnforced(*h, n, request)
}

// hostBefore is the host of a node; nil for none. After a start, not all hosts are indexed yet: then the node's name
// gives the host's.
func (r *Reconciler) hostBefore(ctx context.Context, n node.Node) (*hostapi.Host, error) {
	k, bound := r.known.hostOf(n.UUID)
	if !bound {
		var named bool
		if k.namespace, k.name, named = strings.Cut(n.Name, hostapi.NodeNameSeparator); !named {
			return nil, nil //nolint:nilnil // no host is no mistake
		}
	}
	h, err := objects.Get[hostapi.Host](ctx, r.Documents, k.namespace, k.name)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil //nolint:nilnil // no host is no mistake
	case err != nil:
		return nil, fmt.Errorf("host %s of node %s: %w", k, n.UUID, err)
	case !bound && h.Status.Provisioning.ID != n.UUID:
		return nil, nil //nolint:nilnil // an equal name alone makes no host
	}
	return &h, nil
}
