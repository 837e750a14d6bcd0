package core

import (
	"context"
	"net/netip"
)

// Discovery is what becomes of machines that nobody has enrolled. Anybody on
// their network can claim to be one, so what they can fill is bounded.
type Discovery struct {
	Driver string // hardware type of the nodes they become; "" for none, they stay unknown
	Limit  int    // of such nodes that nobody has taken on yet
	// BMCUser has agents make a user of their BMCs. Redfish reports whether a BMC answers to Redfish; nil for none.
	BMCUser bool
	Redfish func(ctx context.Context, at netip.Addr) bool
}
