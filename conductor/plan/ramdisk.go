package plan

import (
	"fmt"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// RamdiskRefused says that a ramdisk was turned away which claims to run on the
// node's machine. Proven says that it runs there, and that no other will come in this boot:
// there is nothing left to wait for. Recorded says that the history has the reason already.
type RamdiskRefused struct {
	simple
	Reason           string
	Proven, Recorded bool
}

// ScriptAsked says that the machine has asked for its boot script, from the address
// lent to it.
type ScriptAsked struct {
	simple
	From netip.Addr
}

// handle ends the run if the awaited ramdisk is refused, and otherwise records a warning: if the boot's word is already
// used, the refused ramdisk is of another boot or machine.
func (e RamdiskRefused) handle(d *decision) error {
	if a := d.n.Agent; e.Proven && a.WordHash != "" && a.Token == "" && d.atMachine() {
		d.hurry = d.f.EffectPending
		d.failRun(e.Reason)
	} else if !e.Recorded {
		d.note("WARNING", e.Reason)
	}
	return nil
}

// Proven reports whether this boot's word was used: no other ramdisk can prove in it
// that it runs on the machine.
func Proven(n node.Node) bool { return n.Agent.TokenSent }

// handle ends a run if its machine has begun another boot by itself. Another word is given only after a boot that this
// conductor requested. Otherwise, any machine that takes this address meanwhile would get the token of a proven agent.
func (e ScriptAsked) handle(d *decision) error {
	if !Proven(d.n) || !d.atMachine() {
		return nil
	}
	reason := fmt.Sprintf("the machine has restarted by itself: its boot script was requested from %s, after this "+
		"boot's one-time token was used at %s; "+
		"if it did not restart, another machine took its address: see docs/boot-identity.md", e.From, d.agentAt())
	d.hurry = d.f.EffectPending
	d.forgetAgent()
	d.failRun(reason)
	return nil
}

// agentAt is where the agent of this boot is, for people.
func (d *decision) agentAt() string {
	if a := d.n.Agent; a.URL != "" {
		return a.URL
	}
	return d.n.Agent.Caller
}

// atMachine reports whether the run waits for the ramdisk or its agent. BMCs restart
// machines by themselves during their own steps, and operators' power requests do so too.
func (d *decision) atMachine() bool {
	s := d.n.Run.Current()
	return s != nil && d.n.ProvisionState.Class() == node.Waiting && d.n.Chore == "" && !s.Driver && !s.OnChildren
}
