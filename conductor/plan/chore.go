package plan

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// chore is an operator's request outside of runs that keeps the provision state. The node is reserved while its BMC
// handles it, and a failure is in last_error. The request itself, as JSON, is the args of its effect.
type chore interface {
	effect() string
	check(d *decision) error // refuses a chore that must not begin now
	begin(d *decision)       // changes the node as soon as the chore is pending
	done(d *decision)
	failure() string // names the failed request, for last_error
}

// unasked is a chore that the conductor gives itself.
type unasked interface{ failed(d *decision) }

// plain is the part of a chore that most have no need of.
type plain struct{ simple }

func (plain) check(*decision) error { return nil }
func (plain) begin(*decision)       {}
func (plain) done(*decision)        {}

// ChoreDone is the result of a chore's effect. A power change has the result null.
type ChoreDone struct {
	Restarted bool   `json:"restarted,omitempty"` // the machine had to start anew for it
	Note      string `json:"told,omitempty"`      // a line for the history
}

// requestChore takes a chore, unless the node is reserved.
func (d *decision) requestChore(c chore) error {
	if d.f.EffectPending {
		return d.locked()
	}
	if err := c.check(d); err != nil {
		return err
	}
	d.pardon()
	d.beginChore(c)
	return d.err
}

// beginChore enqueues a chore that nothing speaks against.
func (d *decision) beginChore(c chore) {
	c.begin(d)
	d.n.Chore = c.effect()
	d.enqueue(d.n.Chore, c)
}

// choreEnded records how a chore ended.
func (d *decision) choreEnded(o Outcome, of effect) {
	d.n.Chore = ""
	d.n.TargetPowerState = "" // where the chore was to change it
	c, err := of.chore(o.Effect.Args)
	if err != nil {
		d.complain(o.Effect.Name, fmt.Sprintf("the arguments of %s cannot be read: %v", o.Effect.Name, err))
		return
	}
	var r ChoreDone
	if o.Failure == "" {
		if err := read(o.Result, &r); err != nil {
			o.Failure = err.Error()
		}
	}
	if o.Failure != "" {
		reason := c.failure() + ": " + Clip(o.Failure)
		if own, ok := c.(unasked); ok { // last_error is for requests of operators only
			own.failed(d)
			d.noteChore("WARNING", o.Effect.Name, reason)
			return
		}
		d.complain(o.Effect.Name, reason)
		return
	}
	if r.Restarted {
		d.forgetAgent()
	}
	if r.Note != "" {
		d.noteChore("INFO", o.Effect.Name, Clip(r.Note))
	}
	c.done(d)
}

// complain records a chore's failure.
func (d *decision) complain(effect, reason string) {
	d.n.LastError = reason
	d.noteChore("ERROR", effect, reason)
}

// noteChore adds a line to the history, under the interface the chore is of: a
// run that may be waiting meanwhile has nothing to do with it.
func (d *decision) noteChore(severity, effect, text string) {
	d.note(severity, text)
	d.history[len(d.history)-1].EventType, _, _ = strings.Cut(effect, ".")
}

// BootModeRequest is an operator's wish for a boot mode, uefi or bios.
type BootModeRequest struct {
	plain
	Mode string `json:"mode"`
}

// SecureBootRequest is an operator's request that the firmware starts only signed code, or any code.
type SecureBootRequest struct {
	plain
	On bool `json:"on"`
}

// ConsoleRequest is an operator's wish that the node's console can be used, or
// no longer.
type ConsoleRequest struct {
	plain
	On bool `json:"on"`
}

// VendorRequest is a call of a vendor method in the background: no client waits for its end.
type VendorRequest struct {
	plain
	Method string         `json:"method"`
	Args   map[string]any `json:"args,omitempty"`
}

func (BootModeRequest) effect() string   { return "management.change_boot_mode" }
func (SecureBootRequest) effect() string { return "management.change_secure_boot" }
func (ConsoleRequest) effect() string    { return "console.change" }
func (VendorRequest) effect() string     { return "vendor.call" }

func (r BootModeRequest) handle(d *decision) error   { return d.requestChore(r) }
func (r SecureBootRequest) handle(d *decision) error { return d.requestChore(r) }
func (r ConsoleRequest) handle(d *decision) error    { return d.requestChore(r) }
func (r VendorRequest) handle(d *decision) error     { return d.requestChore(r) }

func (BootModeRequest) check(d *decision) error   { return settled(d.n) }
func (SecureBootRequest) check(d *decision) error { return settled(d.n) }

// settled: the firmware is left alone while a run starts the machine as it
// needs it (Ironic's UNSTABLE_STATES).
func settled(n node.Node) error {
	if class := n.ProvisionState.Class(); class == node.Working || class == node.Waiting {
		return node.Refuse(node.Conflict,
			"Node %s is in %s state. Since node is transitioning, the boot mode will not be set as this may interfere with "+
				"ongoing changes and result in erroneous modification. Try again later.", n.UUID, n.ProvisionState)
	}
	return nil
}

func (r BootModeRequest) done(d *decision)   { d.bootModeIs(r.Mode) }
func (r SecureBootRequest) done(d *decision) { on := r.On; d.n.SecureBoot = &on }
func (r ConsoleRequest) done(d *decision)    { d.n.ConsoleEnabled = r.On }

func (r BootModeRequest) failure() string {
	return fmt.Sprintf("Failed to change boot mode to '%s'", r.Mode)
}

func (r SecureBootRequest) failure() string {
	return fmt.Sprintf("Failed to change secure_boot state to '%t'", r.On)
}

func (r ConsoleRequest) failure() string {
	if r.On {
		return "Error enabling the console"
	}
	return "Error disabling the console"
}

func (r VendorRequest) failure() string { return "Vendor method " + r.Method + " failed" }
