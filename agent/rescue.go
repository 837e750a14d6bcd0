package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/sys"
)

// errRescued ends the agent's service: the machine is its owner's now.
var errRescued = errors.New("the machine is in rescue")

// rescue lets the owner log in. Once the conductor has its answer, it ends command API
// and heartbeats, as ironic-python-agent does: the network may be any tenant's from
// now on.
func (a *Agent) rescue(p rescue.Password) error {
	if a.Rescue == nil {
		return errors.New("this agent runs on a system it did not boot and cannot give that away; " +
			"rescue needs Ferrite's ramdisk")
	}
	if err := a.Rescue(p); err != nil {
		return err
	}
	a.handed.Do(func() { close(a.rescued) })
	return nil
}

// moveTime is how long a conductor takes at most to move the machine from its
// own network to the owner's (ironic-python-agent's ramdisks wait as long).
const moveTime = 30 * time.Second

// handOver sends the end of the log and from then on keeps the machine up and
// its addresses in order, nothing else.
func (a *Agent) handOver(ctx context.Context) error {
	a.Log.Info("the machine is handed over: no more heartbeats, commands or log lines; addresses are asked for anew",
		"in", moveTime)
	a.Board.Doing("nothing: the machine is in rescue, its owner's")
	a.logShipper.finish(ctx)
	if sys.Sleep(ctx, moveTime) {
		a.Network.AskAnew()
	}
	<-ctx.Done()
	return ctx.Err()
}
