package client

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

type forceKey struct{}

// WithForce has the requests made with ctx taken even where the conductor refuses them by default.
func WithForce(ctx context.Context) context.Context { return context.WithValue(ctx, forceKey{}, true) }

// Forced reports whether ctx is one of WithForce.
func Forced(ctx context.Context) bool {
	forced, _ := ctx.Value(forceKey{}).(bool)
	return forced
}

// setForce marks a request as forced, unless the request only reads.
func setForce(ctx context.Context, req *http.Request) {
	if Forced(ctx) && req.Method != http.MethodGet {
		req.Header.Set(nodeapi.HeaderForce, "true")
	}
}
