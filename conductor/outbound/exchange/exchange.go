// Package exchange reports each request to a BMC or an agent to the caller that asked for it by its context, and
// bounds the memory that the answers of all machines take together.
//
// It must not keep bodies of requests or answers, which may be secret.
package exchange

import (
	"context"
	"time"
)

// The protocols of an Exchange.
const (
	Redfish = "redfish"
	IPMI    = "ipmi"
	Agent   = "agent"
)

// Exchange is one request, and how it ended.
type Exchange struct {
	Protocol string
	Name     string // the method and path of Redfish, the command of IPMI or of an agent
	Method   string // of HTTP; "" for IPMI
	Path     string // of HTTP, without a query; "" for IPMI
	Server   string // the receiver, without credentials
	Status   int    // of HTTP; 0 where no answer came
	Began    time.Time
	Ended    time.Time
	Err      error  // nil where an answer came
	Note     string // an oddity of the answer, without its values; "" for none
}

type watchKey struct{}

// Watch calls see for every exchange of the context when it has ended, after earlier watchers of the context. see must
// not wait.
func Watch(ctx context.Context, see func(Exchange)) context.Context {
	if before, ok := ctx.Value(watchKey{}).(func(Exchange)); ok {
		last := see
		see = func(e Exchange) {
			before(e)
			last(e)
		}
	}
	return context.WithValue(ctx, watchKey{}, see)
}

// Ended passes an exchange that ends now to the watchers of ctx, if there are any.
func Ended(ctx context.Context, e Exchange) {
	see, ok := ctx.Value(watchKey{}).(func(Exchange))
	if !ok {
		return
	}
	e.Ended = time.Now()
	see(e)
}
