package plan

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// powerOffAfter switches a machine off if its cleaning or service has just failed and the settings say so (Ironic's
// [conductor]poweroff_in_cleanfail and poweroff_in_servicefail). The logs of its agent, and a call that is still under
// way, come first. An abort is no failure. A machine without a BMC stays on, since a person would have to switch it.
func (d *decision) powerOffAfter(e Event) {
	wanted := map[node.State]bool{node.CleanFailed: d.f.Settings.PowerOffInCleanFail,
		node.ServiceFailed: d.f.Settings.PowerOffInServiceFail}[d.n.ProvisionState]
	if !wanted || d.n.PowerState == node.PowerOff || d.n.DisablePowerOff || ByHand(d.n) || len(d.effects) > 0 {
		return
	}
	failed := slices.ContainsFunc(d.moves, func(m node.Transition) bool { return m.On == node.Fail })
	o, settles := e.(Outcome)
	if settles {
		failed = failed || effects[o.Effect.Name].chore == nil || o.Effect.Name == collectLogs{}.effect()
	}
	if !failed || d.f.EffectPending && !settles {
		return
	}
	d.note("INFO", fmt.Sprintf("the machine is switched off, because the node is in %s", d.n.ProvisionState))
	d.beginChore(d.powerChange(node.PowerOff, 0))
}
