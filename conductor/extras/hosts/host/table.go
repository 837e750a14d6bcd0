package host

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node/fsm"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Trigger is an event that moves a host from one state to another.
type Trigger string

// The triggers.
const (
	WithBMC                Trigger = "BMC details"
	WithoutBMC             Trigger = "no BMC details"
	Registered             Trigger = "registered"
	External               Trigger = "externally provisioned"
	NotExternal            Trigger = "no longer external"
	NoInspection           Trigger = "inspection disabled"
	OlderDocument          Trigger = "older document"
	Inspected              Trigger = "inspected"
	InspectAsked           Trigger = "inspection requested"
	Prepared               Trigger = "prepared"
	SettingsDiffer         Trigger = "settings differ"
	ImageWanted            Trigger = "image wanted"
	Provisioned            Trigger = "provisioned"
	Failed                 Trigger = "failed"
	Cancelled              Trigger = "image changed or removed"
	Deprovisioned          Trigger = "deprovisioned"
	DeprovisionedForDelete Trigger = "deprovisioned, to be deleted"
	PoweredOff             Trigger = "powered off"
	GaveUp                 Trigger = "failed too often"
	Unreachable            Trigger = "registration failed too often"
	Forgotten              Trigger = "node and credentials gone"
	Delete                 Trigger = "delete"
	DeleteDetached         Trigger = "delete while detached"
)

// AnyState stands for all states in a row that leaves them all.
const AnyState hostapi.State = "any"

// Transition is one row: in From, On leads to To.
type Transition struct {
	From hostapi.State
	On   Trigger
	To   hostapi.State
	Why  string // one clause, for people
}

// Table is the whole life of a host, as Metal3 has it. Docs, tests and the
// diagram are derived from it.
var Table = []Transition{
	{hostapi.StateNone, WithBMC, hostapi.StateRegistering, "spec.bmc has an address"},
	{hostapi.StateNone, WithoutBMC, hostapi.StateUnmanaged, "spec.bmc has no address"},
	{hostapi.StateNone, Delete, hostapi.StateDeleting, "nothing was begun"},

	{hostapi.StateUnmanaged, WithBMC, hostapi.StateRegistering, "spec.bmc has an address"},
	{hostapi.StateUnmanaged, Delete, hostapi.StateDeleting, "nothing was begun"},

	{hostapi.StateRegistering, External, hostapi.StateExternallyProvisioned, "spec.externallyProvisioned is set"},
	{hostapi.StateRegistering, NoInspection, hostapi.StatePreparing, "inspection is disabled"},
	{hostapi.StateRegistering, Registered, hostapi.StateInspecting, "its BMC accepts the credentials"},
	{hostapi.StateRegistering, Delete, hostapi.StateDeleting, "the machine was never changed"},

	{hostapi.StateMatchProfile, OlderDocument, hostapi.StatePreparing, "a document of an older Metal3"},
	{hostapi.StateMatchProfile, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateInspecting, Inspected, hostapi.StatePreparing, "its hardware is recorded"},
	{hostapi.StateInspecting, NoInspection, hostapi.StatePreparing, "inspection is disabled"},
	{hostapi.StateInspecting, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StatePreparing, Prepared, hostapi.StateAvailable, "its settings match the document"},
	{hostapi.StatePreparing, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateAvailable, External, hostapi.StateExternallyProvisioned, "spec.externallyProvisioned is set"},
	{hostapi.StateAvailable, InspectAsked, hostapi.StateInspecting, "a new inspection is requested"},
	{hostapi.StateAvailable, SettingsDiffer, hostapi.StatePreparing, "other volumes or settings are wanted"},
	{hostapi.StateAvailable, ImageWanted, hostapi.StateProvisioning, "there is an image for it, and it is to be on"},
	{hostapi.StateAvailable, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateProvisioning, Provisioned, hostapi.StateProvisioned, "it boots its image"},
	{hostapi.StateProvisioning, Failed, hostapi.StateDeprovisioning, "clean it, then try again"},
	{hostapi.StateProvisioning, Cancelled, hostapi.StateDeprovisioning, "another image is wanted, or none"},
	{hostapi.StateProvisioning, Delete, hostapi.StateDeprovisioning, "clean it"},

	{hostapi.StateProvisioned, Cancelled, hostapi.StateDeprovisioning, "another image is wanted, or none"},
	{hostapi.StateProvisioned, Delete, hostapi.StateDeprovisioning, "its image is not needed any more"},

	{hostapi.StateExternallyProvisioned, NotExternal, hostapi.StateProvisioned, "spec.externallyProvisioned is cleared"},
	{hostapi.StateExternallyProvisioned, Delete, hostapi.StatePoweringOffBeforeDelete, "its disks are not ours to clean"},

	{hostapi.StateDeprovisioning, Deprovisioned, hostapi.StateAvailable, "it is clean"},
	{hostapi.StateDeprovisioning, DeprovisionedForDelete, hostapi.StatePoweringOffBeforeDelete,
		"it is clean; switch it off"},
	{hostapi.StateDeprovisioning, GaveUp, hostapi.StatePoweringOffBeforeDelete,
		"it cannot be cleaned, and is being deleted"},
	{hostapi.StateDeprovisioning, Unreachable, hostapi.StateDeleting,
		"its BMC cannot be reached, and it is being deleted"},
	{hostapi.StateDeprovisioning, Forgotten, hostapi.StateDeleting, "spec.bmc has no address any more"},

	{hostapi.StatePoweringOffBeforeDelete, PoweredOff, hostapi.StateDeleting, "it is off"},
	{hostapi.StatePoweringOffBeforeDelete, GaveUp, hostapi.StateDeleting,
		"it cannot be switched off, and is being deleted"},
	{hostapi.StatePoweringOffBeforeDelete, Unreachable, hostapi.StateDeleting,
		"its BMC cannot be reached, and it is being deleted"},
	{hostapi.StatePoweringOffBeforeDelete, Forgotten, hostapi.StateDeleting, "spec.bmc has no address any more"},

	{AnyState, DeleteDetached, hostapi.StateDeleting, "a detached machine is left alone"},
}

// Edge is the row without its reason.
func (t Transition) Edge() (from hostapi.State, on Trigger, to hostapi.State) {
	return t.From, t.On, t.To
}

// Label is the trigger, as the diagram shows it.
func (t Transition) Label() string { return string(t.On) }

// Reason is why there is the row.
func (t Transition) Reason() string { return t.Why }

var machine = fsm.New(Table)

// row finds the row for a trigger in a state, or in all of them; nil for none.
func row(s hostapi.State, on Trigger) *Transition {
	if t := machine.Row(s.Canonical(), on); t != nil {
		return t
	}
	return machine.Row(AnyState, on)
}

// Next returns the state that a trigger leads to from s. It is the only function that
// yields a new state.
func Next(s hostapi.State, on Trigger) (hostapi.State, error) {
	t := row(s, on)
	if t == nil {
		return s, fmt.Errorf("%q is not foreseen in state %q", on, s)
	}
	return t.To, nil
}

// Mermaid renders Table as a Mermaid state diagram, in table order.
func Mermaid() string { return machine.Mermaid() }
