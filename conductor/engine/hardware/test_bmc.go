package hardware

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// testLimit ends a test of a BMC, where the node's own limit is longer: a person waits for it.
const testLimit = time.Minute

// noNode is the UUID under which a BMC without a node is read: drivers that remember machines remember one.
const noNode = "00000000-0000-0000-0000-000000000000"

// TestBMC holds a node that is not enrolled yet to the rules of a new one, and makes the first call of its
// verification: it logs in at the BMC, and reads the power state. It stores nothing and changes nothing. A BMC that
// cannot be used is a *node.Refusal of Kind BMCFailed or BMCSilent.
func (e *Hardware) TestBMC(ctx context.Context, n node.Node) (node.PowerState, error) {
	n.UUID, n.ProvisionState = noNode, node.Enroll
	if err := e.CheckImported(ctx, nil, &n); err != nil {
		return "", err
	}
	bmc := e.BMCs[n.Driver] // CheckImported refuses a driver that is not enabled
	if err := bmc.Validate(n); err != nil {
		return "", node.Refuse(node.Invalid, "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, min(e.Patience(n).Call, testLimit))
	defer cancel()
	power, err := bmc.PowerState(ctx, n)
	return power, core.BmcFault(err)
}
