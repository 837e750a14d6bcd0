package core

import (
	"context"
	"net/netip"
)

// Discovery configures the enrolment of unknown machines. Any sender on their network can claim to be one, so the
// number of nodes they create is bounded.
type Discovery struct {
	Driver string // hardware type of the nodes they become; "" for none, they stay unknown
	Limit  int    // of discovered nodes that no operator has taken on yet
	// BMCUser has agents make a user of their BMCs. Redfish reports whether a BMC answers to Redfish; nil for none.
	BMCUser bool
	Redfish func(ctx context.Context, at netip.Addr) bool
}
