package engine

import "context"

type userKey struct{}

// WithUser says for whom all that is done with ctx is done: the history of nodes
// names him. What goes on by itself later has no user.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

func user(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}
