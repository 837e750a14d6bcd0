package node

import "context"

type revisionKey struct{}

// AtRevision returns a context that binds requests to a revision of the node: the caller decided on that revision. At
// any other revision, a request with ctx is refused (Locked).
func AtRevision(ctx context.Context, revision int64) context.Context {
	return context.WithValue(ctx, revisionKey{}, revision)
}

// CheckRevision refuses a node that ctx asks for at another revision.
func CheckRevision(ctx context.Context, n *Node) error {
	if revision, set := ctx.Value(revisionKey{}).(int64); set && n.Revision != revision {
		return Refuse(Locked, "Node %s was changed since this was decided: expected revision %d, found %d.", n.UUID,
			revision, n.Revision)
	}
	return nil
}
