package host

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/firmware"
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
	WorkloadLost          = "WorkloadLost"
	ForeignWorkload       = "ForeignWorkload"
	NoEffect              = "NoEffect"
)

// conditionValue is one condition as it comes to be: its status and reason.
type conditionValue struct{ status, reason string }

// stateConditions is the conditions that follow from a state alone.
type stateConditions struct{ manageable, available, provisioned, progressing conditionValue }

var (
	notProgressing = conditionValue{hostapi.False, NotProgressing}
	isManageable   = conditionValue{hostapi.True, Manageable}
	notAvailable   = conditionValue{hostapi.False, NotAvailable}
	notProvisioned = conditionValue{hostapi.False, NotProvisioned}
	isProvisioned  = conditionValue{hostapi.True, IsProvisioned}
)

// working is the conditions of a state in which something is done to the machine.
func working(reason string) stateConditions {
	return stateConditions{isManageable, notAvailable, notProvisioned, conditionValue{hostapi.True, reason}}
}

// unmanagedConditions are the conditions of a host without access to its machine.
var unmanagedConditions = stateConditions{conditionValue{hostapi.False, NotManaged}, notAvailable, notProvisioned,
	notProgressing}

// conditionsByState maps each state to its conditions.
var conditionsByState = map[hostapi.State]stateConditions{
	hostapi.StateNone:      unmanagedConditions,
	hostapi.StateUnmanaged: unmanagedConditions,
	hostapi.StateRegistering: {
		conditionValue{hostapi.False, Registering}, notAvailable, notProvisioned, conditionValue{hostapi.True, Registering},
	},
	hostapi.StateMatchProfile: working(Inspecting),
	hostapi.StateInspecting:   working(Inspecting),
	hostapi.StatePreparing:    working(Preparing),
	hostapi.StateAvailable: {isManageable, conditionValue{hostapi.True, Available}, notProvisioned,
		notProgressing},
	hostapi.StateProvisioning:            working(Provisioning),
	hostapi.StateProvisioned:             {isManageable, notAvailable, isProvisioned, notProgressing},
	hostapi.StateExternallyProvisioned:   {isManageable, notAvailable, isProvisioned, notProgressing},
	hostapi.StateDeprovisioning:          working(Deprovisioning),
	hostapi.StatePoweringOffBeforeDelete: working(PoweringOffBeforeGone),
	hostapi.StateDeleting:                working(Deleting),
}

// conditionByHealth maps the machine's health, as the BMC reports it, to a condition.
var conditionByHealth = map[string]conditionValue{
	"OK":       {hostapi.True, Healthy},
	"Warning":  {hostapi.False, WarningHealth},
	"Critical": {hostapi.False, CriticalHealth},
}

// unwatchedStates are the states without power management. A fault of the node does not affect the host then.
var unwatchedStates = []hostapi.State{hostapi.StateNone, hostapi.StateUnmanaged, hostapi.StateRegistering,
	hostapi.StateDeleting}

// setConditions sets the host's new conditions. Their observed generation follows the spec only once the change needs
// no more work.
func (d *decision) setConditions() {
	state, t := d.state().Canonical(), conditionsByState[d.state().Canonical()]
	ready, failing := t.provisioned, d.h.Status.OperationalStatus == hostapi.StatusError
	watched := !slices.Contains(unwatchedStates, state)
	switch d.h.Status.OperationalStatus {
	case hostapi.StatusError:
		ready = conditionValue{hostapi.False, IsError}
	case hostapi.StatusServicing:
		ready = conditionValue{hostapi.False, Servicing}
	case hostapi.StatusDetached:
		ready, t.progressing, watched = conditionValue{hostapi.False, Detached},
			conditionValue{hostapi.False, Detached}, false
	default:
	}
	switch {
	case failing && t.progressing.status == hostapi.True: // the error is shown until the next try succeeds
		t.progressing = conditionValue{hostapi.False, IsError}
	default:
	}
	switch {
	case d.held != "":
		changed := conditionValue{hostapi.False, d.held}
		t.available, t.provisioned = changed, changed
	case state == hostapi.StateRegistering && failing:
		t.manageable.reason = RegistrationFailed
	case watched && d.facts.Node != nil && d.facts.Node.Fault == plan.PowerFailure:
		t.manageable = conditionValue{hostapi.False, PowerFailure}
	}
	d.setCondition(hostapi.ConditionManageable, t.manageable, "")
	d.setCondition(hostapi.ConditionAvailable, t.available, d.noRootDisk())
	d.setCondition(hostapi.ConditionProvisioned, t.provisioned, "")
	d.setCondition(hostapi.ConditionReady, ready, d.facts.CannotMove)
	d.setCondition(hostapi.ConditionProgressing, t.progressing, d.deletionBlocker())
	d.setCondition(hostapi.ConditionHealthy, d.health(t.manageable.status == hostapi.True), "")
	d.setFieldsUsed()
}

// setFieldsUsed reports the fields of the spec that have no effect. A host without any has no such condition.
func (d *decision) setFieldsUsed() {
	inForce, unknown := firmware.General(d.facts.FirmwareFacts())
	if inForce || d.h.Spec.Firmware == nil {
		d.h.Status.Provisioning.Firmware = d.h.Spec.Firmware
	}
	all := hostapi.WithoutEffect(&d.h)
	for _, p := range unknown {
		all = append(all, p.String())
	}
	if len(all) > 0 {
		d.setCondition(hostapi.ConditionFieldsUsed, conditionValue{hostapi.False, NoEffect}, strings.Join(all, "; "))
		return
	}
	d.h.Status.Conditions = slices.DeleteFunc(d.h.Status.Conditions, func(c hostapi.Condition) bool {
		return c.Type == hostapi.ConditionFieldsUsed
	})
}

// changedReasons are the reasons of a condition about a changed node, which does not concern the machine's health.
var changedReasons = map[string]bool{WorkloadLost: true, ForeignWorkload: true}

// health stays as it was while the BMC reports none. A machine that cannot be reached is not called healthy.
func (d *decision) health(reached bool) conditionValue {
	unknown := conditionValue{hostapi.Unknown, UnknownHealth}
	switch {
	case d.held != "":
		return conditionValue{hostapi.False, d.held}
	case d.drifted() && d.isProvisioned() && !d.mended:
		return conditionValue{hostapi.False, WorkloadLost}
	}
	if d.facts.Node == nil {
		return unknown
	}
	if s, ok := conditionByHealth[d.facts.Node.Health]; ok && (reached || s.status == hostapi.False) {
		return s
	}
	if was := d.condition(hostapi.ConditionHealthy); was != nil && d.facts.Node.Health == "" &&
		!changedReasons[was.Reason] && (reached || was.Status != hostapi.True) {
		return conditionValue{was.Status, was.Reason}
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

// setCondition sets one condition; message is for people, and may be "".
func (d *decision) setCondition(kind string, s conditionValue, message string) {
	generation := d.h.Generation
	if d.Action != nil || d.away {
		generation = 0
		if was := d.condition(kind); was != nil {
			generation = was.ObservedGeneration
		}
	}
	d.h.Status.Conditions = hostapi.WithCondition(d.h.Status.Conditions, hostapi.Condition{
		Type: kind, Status: s.status, Reason: s.reason, Message: message, ObservedGeneration: generation,
		LastTransitionTime: hostapi.At(d.facts.Now),
	})
}
