package ramdisk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// askForBMCUser decides whether the agent of a discovered node is asked to make a user of its BMC. It asks only if the
// configuration allows it and the node has no credentials. It returns the node with a note of the request.
//
// The agent chooses the password. If the conductor chose it, any sender that claims to be a machine would get a secret.
func (e *Ramdisks) askForBMCUser(n node.Node) (node.Node, *agentapi.BMCUserRequest) {
	if !e.Discovery.BMCUser || !plan.WantsBMCUser(n) {
		return n, nil
	}
	token := newToken()
	return plan.AskedForBMCUser(n, tokenSum(token)), &agentapi.BMCUserRequest{Name: plan.BMCUserName, Token: token}
}

func tokenSum(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// TakeBMCUser stores the user that the agent of a discovered node made, or the reason for making none. The token proves
// that this agent was asked. It does not change a node that an operator has taken on or given credentials.
func (e *Ramdisks) TakeBMCUser(ctx context.Context, uuid string, u agentapi.BMCUser, from netip.Addr) error {
	n, err := e.Store.Node(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) {
		return unknownRamdisk()
	}
	if err != nil {
		return err
	}
	if want := plan.BMCUserToken(n); want == "" || !core.SameToken(want, tokenSum(u.Token)) || !plan.Undecided(n) {
		e.warnOf(ctx, "BMC user refused: no user was requested of this agent", n.UUID, "from", from)
		return unknownRamdisk()
	}
	if plan.HasBMCUser(n, u) {
		return nil
	}
	if !plan.WantsBMCUser(n) {
		e.warnOf(ctx, "BMC user refused: the node has credentials by now", n.UUID, "from", from)
		return unknownRamdisk()
	}
	change, err := e.bmcUser(ctx, n, u)
	if err != nil {
		return err
	}
	_, err = e.Commit(ctx, *change)
	if errors.Is(err, node.ErrStale) || errors.Is(err, node.ErrConflict) {
		return e.Locked(n.UUID) // the agent calls again
	}
	for _, entry := range change.History {
		e.Log.Info("credentials of a discovered machine", "node", n.UUID, "from", from, "event", entry.Event, "err", err)
	}
	return err
}

// bmcUser is the change that a user, or the lack of one, makes.
func (e *Ramdisks) bmcUser(ctx context.Context, n node.Node, u agentapi.BMCUser) (*node.Change, error) {
	f := plan.Facts{Settings: e.Settings}
	if u.Error != "" {
		return plan.BMCUserMissing(n, f, u.Error, e.Now()), nil
	}
	at, why, err := e.bmcAddress(ctx, n, u)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return plan.BMCUserMissing(n, f, why, e.Now()), nil
	}
	if n, err = e.chooseDriver(ctx, n, at); err != nil {
		return nil, err
	}
	return plan.BMCUserMade(n, f, u, at, e.Now()), nil
}

// bmcAddress is the address of the BMC of a new user, or why it cannot be the node's.
func (e *Ramdisks) bmcAddress(ctx context.Context, n node.Node, u agentapi.BMCUser) (a netip.Addr, why string,
	err error) {
	a, err = netip.ParseAddr(u.Address)
	if a = a.Unmap(); err != nil || !a.IsGlobalUnicast() || a.Zone() != "" {
		return a, fmt.Sprintf("the BMC's address %s is none that a conductor can call", u.Address), nil
	}
	if is := n.BMCHosts(); len(is) > 0 && !slices.Contains(is, a.String()) {
		return a, fmt.Sprintf("the node's BMC is at %v, the machine says %s: correct driver_info", is, a), nil
	}
	if err := e.machines.fill(ctx, e.Store); err != nil {
		return a, "", err
	}
	others := slices.DeleteFunc(e.machines.at(a.String()), func(uuid string) bool { return uuid == n.UUID })
	if len(others) > 0 {
		return a, fmt.Sprintf("node %s has the BMC at %s already: give each BMC an address of its own", others[0], a), nil
	}
	return a, "", nil
}

// chooseDriver gives a node the driver that speaks to its BMC: one of Redfish where the BMC answers to that, else
// ipmi. A driver that is not enabled is not chosen.
func (e *Ramdisks) chooseDriver(ctx context.Context, n node.Node, at netip.Addr) (node.Node, error) {
	want := "ipmi"
	if e.Discovery.Redfish != nil && e.Discovery.Redfish(ctx, at) {
		want = "redfish"
	}
	if _, enabled := e.BMCs[want]; !enabled || node.BaseType(n.Driver) == want {
		return n, nil
	}
	n = n.Clone()
	if key, _, ok := node.BMCSetting(n.Driver, at); ok {
		delete(n.DriverInfo, key) // by which discovery knew the address; the other driver has a key of its own
	}
	n.Driver, n.Interfaces = want, nil
	return n, e.FillInterfaces(&n)
}
