package plan

import (
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Abandoned ends the activity of a node, without any further action on its machine. It is for a restored database that
// is older than the machine: to go on could erase data that were deployed since. Pending is its effect, nil for none.
type Abandoned struct {
	Pending *node.Effect
	Reason  string
}

// Needs returns the needs of the end of a tear-down.
func (Abandoned) Needs(n node.Node) Need { return Need{Bonds: tearsDown(n)} }

// handle fails a run, or forgets a chore. The effect goes with it.
func (e Abandoned) handle(d *decision) error {
	if d.n.Run == nil && d.n.Chore == "" && e.Pending == nil {
		return node.Refuse(node.InvalidState, "Node %s is at rest in state %s: there is nothing to abandon.", d.n.UUID,
			d.n.ProvisionState)
	}
	d.overtaken, d.dirty = e.Pending, true
	if d.n.Run != nil {
		d.endRun(e.Reason)
		return nil
	}
	d.n.Chore, d.n.TargetPowerState, d.n.LastError = "", "", Clip(e.Reason)
	d.note("ERROR", e.Reason)
	return nil
}

// Finding is a consequence of restoring an old database for a node. It is Dangerous if data could be lost.
type Finding struct {
	Dangerous bool
	Text      string
}

// goesOn lists the actions of a run on a machine once effects are no longer held.
var goesOn = map[node.State]Finding{
	node.Cleaning:   {true, "continues to be cleaned: its disks are erased"},
	node.CleanWait:  {true, "continues to be cleaned: its disks are erased"},
	node.Deploying:  {true, "continues to be deployed: its root disk is overwritten"},
	node.DeployWait: {true, "continues to be deployed: its root disk is overwritten"},
	node.Deleting:   {true, "continues to be undeployed: it is switched off, and its disks are erased"},
	node.Inspecting: {false, "continues to be inspected: it is restarted"}, node.InspectWait: {false,
		"continues to be inspected: it is restarted"},
	node.Rescuing: {false, "continues to be rescued: it is restarted"}, node.RescueWait: {false,
		"continues to be rescued: it is restarted"},
	node.Unrescuing:  {false, "continues to leave rescue: it is restarted"},
	node.Servicing:   {true, "continues to be serviced: its steps are done again"},
	node.ServiceWait: {true, "continues to be serviced: its steps are done again"},
}

// AfterRestore lists the consequences of the end of a hold for a node: the work that goes on, and a power state that
// differs from the database. effect is the pending effect, "" for none. now is "" if the BMC has not answered; failure
// is the reason.
func AfterRestore(n node.Node, effect string, now node.PowerState, failure string) (all []Finding) {
	switch f, known := goesOn[n.ProvisionState]; {
	case known:
		all = append(all, f)
	case n.Run != nil || n.ProvisionState.Class() == node.Working || n.ProvisionState.Class() == node.Waiting:
		all = append(all, Finding{Text: fmt.Sprintf("continues its activity in state %s", n.ProvisionState)})
	case effect != "":
		all = append(all, Finding{n.TargetPowerState != "", "continues with " + effect + power(n.TargetPowerState)})
	}
	if failure != "" {
		return append(all, Finding{Text: "its BMC does not report its power: " + Clip(failure)})
	}
	if now == "" || n.PowerState == "" || now == n.PowerState {
		return all
	}
	text := fmt.Sprintf("is %s, and the backup says %s", now, n.PowerState)
	switch {
	case now == node.PowerOn && (n.ProvisionState == node.Available || n.ProvisionState == node.Manageable):
		return append(all, Finding{true, text + ": it may have been deployed since; check it before a person deploys or " +
			"cleans it"})
	case now == node.PowerOff && n.ProvisionState == node.Active:
		return append(all, Finding{false, text + ": it may have been undeployed since"})
	}
	return append(all, Finding{Text: text})
}

func power(target node.PowerState) string {
	if target == "" {
		return ""
	}
	return ", for " + string(target)
}

// PowerPollHeld is how often the power of n is read while effects are held. Nodes at work are read, too, because their
// work is suspended.
func PowerPollHeld(n node.Node, s Settings) time.Duration {
	if ByHand(n) || n.Maintenance && n.Fault != PowerFailure || unread[n.ProvisionState] {
		return 0
	}
	return s.SyncPowerInterval
}
