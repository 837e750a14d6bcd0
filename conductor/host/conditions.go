package host

import (
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Reasons of conditions.
const (
	Manageable            = "Manageable"
	NotManaged            = "NotManaged"
	Registering           = "Registering"
	RegistrationFailed    = "RegistrationFailed"
	PowerFailure          = "PowerFailure"
	IsProvisioned         = "Provisioned"
	NotProvisioned        = "NotProvisioned"
	Provisioning          = "Provisioning"
	IsError               = "Error"
	Detached              = "Detached"
	Available             = "Available"
	NotAvailable          = "NotAvailable"
	Inspecting            = "Inspecting"
	Preparing             = "Preparing"
	Deprovisioning        = "Deprovisioning"
	PoweringOffBeforeGone = "PoweringOffBeforeDelete"
	Deleting              = "Deleting"
	Servicing             = "Servicing"
	NotProgressing        = "NotProgressing"
	Healthy               = "Healthy"
	UnknownHealth         = "Unknown"
	WarningHealth         = "Warning"
	CriticalHealth        = "CriticalError"
)

// said is one condition as it comes to be: its status and reason.
type said struct{ status, reason string }

// told is the conditions that follow from a state alone.
type told struct{ manageable, available, provisioned, progressing said }

var (
	idle     = said{hostapi.False, NotProgressing}
	manages  = said{hostapi.True, Manageable}
	notFree  = said{hostapi.False, NotAvailable}
	notThere = said{hostapi.False, NotProvisioned}
	there    = said{hostapi.True, IsProvisioned}
)

func atWork(reason string) told {
	return told{manages, notFree, notThere, said{hostapi.True, reason}}
}

var unmanagedTold = told{said{hostapi.False, NotManaged}, notFree, notThere, idle}

// byState is what each state says.
var byState = map[hostapi.State]told{
	hostapi.StateNone:                    unmanagedTold,
	hostapi.StateUnmanaged:               unmanagedTold,
	hostapi.StateRegistering:             {said{hostapi.False, Registering}, notFree, notThere, said{hostapi.True, Registering}},
	hostapi.StateMatchProfile:            atWork(Inspecting),
	hostapi.StateInspecting:              atWork(Inspecting),
	hostapi.StatePreparing:               atWork(Preparing),
	hostapi.StateAvailable:               {manages, said{hostapi.True, Available}, notThere, idle},
	hostapi.StateProvisioning:            atWork(Provisioning),
	hostapi.StateProvisioned:             {manages, notFree, there, idle},
	hostapi.StateExternallyProvisioned:   {manages, notFree, there, idle},
	hostapi.StateDeprovisioning:          atWork(Deprovisioning),
	hostapi.StatePoweringOffBeforeDelete: atWork(PoweringOffBeforeGone),
	hostapi.StateDeleting:                atWork(Deleting),
}

// byHealth is what the BMC's word for the machine's health says.
var byHealth = map[string]said{
	"OK":       {hostapi.True, Healthy},
	"Warning":  {hostapi.False, WarningHealth},
	"Critical": {hostapi.False, CriticalHealth},
}

// tellConditions makes the conditions of the host as it has become. That the
// spec was seen is said only once nothing more is to be done because of it.
func (d *decision) tellConditions() {
	state, t := d.state().Canonical(), byState[d.state().Canonical()]
	ready, failing := t.provisioned, d.h.Status.OperationalStatus == hostapi.StatusError
	watched := !slices.Contains([]hostapi.State{hostapi.StateNone, hostapi.StateUnmanaged, hostapi.StateRegistering, hostapi.StateDeleting}, state)
	switch d.h.Status.OperationalStatus {
	case hostapi.StatusError:
		ready = said{hostapi.False, IsError}
	case hostapi.StatusServicing:
		ready = said{hostapi.False, Servicing}
	case hostapi.StatusDetached:
		ready, t.progressing, watched = said{hostapi.False, Detached}, said{hostapi.False, Detached}, false
	default:
	}
	switch {
	case state == hostapi.StateRegistering && failing:
		t.manageable.reason = RegistrationFailed
	case watched && d.s.Node != nil && d.s.Node.Fault == plan.PowerFailure:
		t.manageable = said{hostapi.False, PowerFailure}
	}
	d.tell(hostapi.ConditionManageable, t.manageable)
	d.tell(hostapi.ConditionAvailable, t.available)
	d.tell(hostapi.ConditionProvisioned, t.provisioned)
	d.tell(hostapi.ConditionReady, ready)
	d.tell(hostapi.ConditionProgressing, t.progressing)
	d.tell(hostapi.ConditionHealthy, d.health())
}

// health stays as it was while the BMC says nothing of it.
func (d *decision) health() said {
	unknown := said{hostapi.Unknown, UnknownHealth}
	if d.s.Node == nil {
		return unknown
	}
	if s, ok := byHealth[d.s.Node.Health]; ok {
		return s
	}
	if was := d.condition(hostapi.ConditionHealthy); was != nil && d.s.Node.Health == "" {
		return said{was.Status, was.Reason}
	}
	return unknown
}

func (d *decision) condition(kind string) *hostapi.Condition {
	all := d.h.Status.Conditions
	if i := slices.IndexFunc(all, func(c hostapi.Condition) bool { return c.Type == kind }); i >= 0 {
		return &all[i]
	}
	return nil
}

// tell sets one condition.
func (d *decision) tell(kind string, s said) {
	generation := d.h.Generation
	if d.Action != nil {
		generation = 0
		if was := d.condition(kind); was != nil {
			generation = was.ObservedGeneration
		}
	}
	d.h.Status.Conditions = observed(d.h.Status.Conditions, kind, s, "", generation, d.s.Now)
}

// observed is the conditions with one as it has become: its time is that of its
// last change.
func observed(all []hostapi.Condition, kind string, s said, message string, generation int64, now time.Time) []hostapi.Condition {
	c := hostapi.Condition{
		Type: kind, Status: s.status, Reason: s.reason, Message: message, ObservedGeneration: generation, LastTransitionTime: hostapi.At(now),
	}
	all = slices.Clone(all)
	i := slices.IndexFunc(all, func(c hostapi.Condition) bool { return c.Type == kind })
	if i < 0 {
		return append(all, c)
	}
	if all[i].Status == c.Status {
		c.LastTransitionTime = all[i].LastTransitionTime
	}
	all[i] = c
	return all
}
