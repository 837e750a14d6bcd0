package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/ipmi"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// bmcUserLimit bounds the making of a BMC user: some thirty commands to a BMC that may be slow.
const bmcUserLimit = 2 * time.Minute

// handInBMCUser makes the user of the BMC that the conductor asks for, and hands it in, or the reason why there is
// none. The password exists only here and in the BMC until then. Failure is reported only: the machine is of use
// without.
func (a *Agent) handInBMCUser(ctx context.Context, nodeUUID string, want agentapi.BMCUserRequest) {
	a.Board.Doing("making a user of the BMC")
	user, err := a.makeBMCUser(ctx, want.Name)
	if err != nil {
		a.Log.Error("no BMC user made", "name", want.Name, "err", err)
		user = agentapi.BMCUser{Error: agentapi.BMCUserError(err)}
	}
	user.Token = want.Token
	if err := a.conductor.HandInBMCUser(ctx, a.Params.InspectionURLs, nodeUUID, user, a.Log); err != nil {
		a.Board.Failed(fmt.Errorf("BMC user not handed over: %w", err))
		a.Log.Error("BMC user not handed over", "err", err)
		return
	}
	if user.Error == "" {
		a.Log.Info("BMC user made and handed over", "name", user.Name, "bmc", user.Address)
	}
}

func (a *Agent) makeBMCUser(ctx context.Context, name string) (agentapi.BMCUser, error) {
	var none agentapi.BMCUser
	if err := a.conductor.CheckBMCUser(a.Params.InspectionURLs); err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, bmcUserLimit)
	defer cancel()
	if err := ipmi.Present(ctx, a.Kernel, sys.Sleep); err != nil {
		return none, err
	}
	bmc := inventory.FindBMC(ctx, a.Kernel, a.Log)
	address := bmc.IPv4
	if address == "" {
		address = bmc.IPv6
	}
	if address == "" {
		return none, errors.New("no LAN channel of the BMC has an IP address: connect its network, or give it an address")
	}
	password, err := ipmi.Password(rand.Reader)
	if err != nil {
		return none, err
	}
	made, err := ipmi.Make(ctx, a.Kernel, ipmi.User{Channel: bmc.Channel, Name: name, Password: password}, sys.Sleep)
	if err != nil {
		return none, err
	}
	if made.NoSOL != nil {
		a.Log.Info("the BMC user may not use serial over LAN", "name", name, "err", made.NoSOL)
	}
	return agentapi.BMCUser{Name: name, Password: password, Address: address}, nil
}
