package node

import "context"

type revisionKey struct{}

// AtRevision has what is done to a node with ctx refused (Locked) where the node has another revision by then: whoever
// asks has decided on this one.
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
