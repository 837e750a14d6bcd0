package host

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/fsm"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Trigger is what moves a host from one state to another.
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
	InspectAsked           Trigger = "inspection asked for"
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
	{hostapi.StateNone, WithBMC, hostapi.StateRegistering, "somebody said how the machine is reached"},
	{hostapi.StateNone, WithoutBMC, hostapi.StateUnmanaged, "there is nobody to talk to yet"},
	{hostapi.StateNone, Delete, hostapi.StateDeleting, "nothing was begun"},

	{hostapi.StateUnmanaged, WithBMC, hostapi.StateRegistering, "somebody said how the machine is reached"},
	{hostapi.StateUnmanaged, Delete, hostapi.StateDeleting, "nothing was begun"},

	{hostapi.StateRegistering, External, hostapi.StateExternallyProvisioned, "it runs somebody else's work already"},
	{hostapi.StateRegistering, NoInspection, hostapi.StatePreparing, "nobody wants to know what it is made of"},
	{hostapi.StateRegistering, Registered, hostapi.StateInspecting, "its BMC lets us in"},
	{hostapi.StateRegistering, Delete, hostapi.StateDeleting, "the machine was not touched, nor is it now"},

	{hostapi.StateMatchProfile, OlderDocument, hostapi.StatePreparing, "a document of an older Metal3"},
	{hostapi.StateMatchProfile, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateInspecting, Inspected, hostapi.StatePreparing, "what it is made of is written down"},
	{hostapi.StateInspecting, NoInspection, hostapi.StatePreparing, "nobody wants to know any more"},
	{hostapi.StateInspecting, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StatePreparing, Prepared, hostapi.StateAvailable, "its settings are as wanted"},
	{hostapi.StatePreparing, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateAvailable, External, hostapi.StateExternallyProvisioned, "somebody else has given it work"},
	{hostapi.StateAvailable, InspectAsked, hostapi.StateInspecting, "look at it once more"},
	{hostapi.StateAvailable, SettingsDiffer, hostapi.StatePreparing, "other volumes or settings are wanted"},
	{hostapi.StateAvailable, ImageWanted, hostapi.StateProvisioning, "there is an image for it, and it is to be on"},
	{hostapi.StateAvailable, Delete, hostapi.StatePoweringOffBeforeDelete, "switch it off first"},

	{hostapi.StateProvisioning, Provisioned, hostapi.StateProvisioned, "it boots its image"},
	{hostapi.StateProvisioning, Failed, hostapi.StateDeprovisioning, "take away what there may be, then try again"},
	{hostapi.StateProvisioning, Cancelled, hostapi.StateDeprovisioning, "another image is wanted, or none"},
	{hostapi.StateProvisioning, Delete, hostapi.StateDeprovisioning, "take away what there may be"},

	{hostapi.StateProvisioned, Cancelled, hostapi.StateDeprovisioning, "another image is wanted, or none"},
	{hostapi.StateProvisioned, Delete, hostapi.StateDeprovisioning, "the work on it is done with"},

	{hostapi.StateExternallyProvisioned, NotExternal, hostapi.StateProvisioned, "the work on it is ours from now on"},
	{hostapi.StateExternallyProvisioned, Delete, hostapi.StatePoweringOffBeforeDelete, "its disks are not ours to clean"},

	{hostapi.StateDeprovisioning, Deprovisioned, hostapi.StateAvailable, "nothing is left of the last work"},
	{hostapi.StateDeprovisioning, DeprovisionedForDelete, hostapi.StatePoweringOffBeforeDelete,
		"nothing is left; switch it off"},
	{hostapi.StateDeprovisioning, GaveUp, hostapi.StatePoweringOffBeforeDelete,
		"it cannot be cleaned, and is wanted no more"},
	{hostapi.StateDeprovisioning, Unreachable, hostapi.StateDeleting, "its BMC cannot be had, and it is wanted no more"},
	{hostapi.StateDeprovisioning, Forgotten, hostapi.StateDeleting, "nobody can say how it would be reached"},

	{hostapi.StatePoweringOffBeforeDelete, PoweredOff, hostapi.StateDeleting, "it rests"},
	{hostapi.StatePoweringOffBeforeDelete, GaveUp, hostapi.StateDeleting,
		"it cannot be switched off, and is wanted no more"},
	{hostapi.StatePoweringOffBeforeDelete, Unreachable, hostapi.StateDeleting,
		"its BMC cannot be had, and it is wanted no more"},
	{hostapi.StatePoweringOffBeforeDelete, Forgotten, hostapi.StateDeleting, "nobody can say how it would be reached"},

	{AnyState, DeleteDetached, hostapi.StateDeleting, "the machine goes its own way and is left alone"},
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
