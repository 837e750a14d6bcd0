package core

import "context"

type userKey struct{}

type user struct{ name, project string }

// WithUser names the user of all work that is done with ctx. The history of nodes names the user and their project, ""
// for none. Later work of the conductor itself has no user.
func WithUser(ctx context.Context, name, project string) context.Context {
	return context.WithValue(ctx, userKey{}, user{name, project})
}

// ProjectOf is the project of that user; "" for none.
func ProjectOf(ctx context.Context) string { return userOf(ctx).project }

func userOf(ctx context.Context) user {
	u, _ := ctx.Value(userKey{}).(user)
	return u
}
