package firmware

import (
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Documents is the documents about the firmware of a host's machine, which have its name. A field is nil if the
// document does not exist. They are brought up to date before a decision about the host: see FirmwareSettings,
// FirmwareSchema, FirmwareComponents and UpdatePolicy.
type Documents struct {
	Settings   *hostapi.HostFirmwareSettings
	Schema     *hostapi.FirmwareSchema // of SchemaName; nil if Described, too
	Components *hostapi.HostFirmwareComponents
	Policy     *hostapi.HostUpdatePolicy

	Described bool // Settings names its schema, and there is one: it need not be read
}

// Facts is all that the documents about a host's firmware rest on.
type Facts struct {
	Host      hostapi.Host
	Node      *node.Node          // the node behind the host; nil for none
	Report    node.HardwareReport // of the node's BMC
	Documents Documents
	Now       time.Time
}

// KeepsFirmware reports whether a host has documents about firmware: its machine is registered, and the host is neither
// paused nor detached nor being deleted.
func KeepsFirmware(facts Facts) bool {
	_, paused := facts.Host.Annotations[hostapi.AnnotationPaused]
	_, detached := facts.Host.Annotations[hostapi.AnnotationDetached]
	return facts.Node != nil && facts.Host.Status.Provisioning.ID == facts.Node.UUID &&
		facts.Host.DeletionTimestamp == nil &&
		!paused && !detached && facts.Host.Status.OperationalStatus != hostapi.StatusDetached
}

// Unseen reports whether a document about firmware has a change that no decision has seen.
func Unseen(d hostapi.Document) bool {
	switch d := d.(type) {
	case *hostapi.HostFirmwareSettings:
		_, seen := pending(d.Generation, d.Status.Conditions)
		return !seen
	case *hostapi.HostFirmwareComponents:
		_, seen := pending(d.Generation, d.Status.Conditions)
		return !seen
	case *hostapi.HostUpdatePolicy: // it has no status that could show it
		return true
	default:
		return false
	}
}

// pending reports whether a document asks for a change that is possible; seen is false when its conditions are of an
// earlier generation.
func pending(generation int64, conditions []hostapi.Condition) (changes, seen bool) {
	is := map[string]string{}
	for _, c := range conditions {
		is[c.Type] = c.Status
		seen = seen || c.Type == hostapi.ConditionChangeDetected && c.ObservedGeneration == generation
	}
	return seen && is[hostapi.ConditionChangeDetected] == hostapi.True && is[hostapi.ConditionValid] == hostapi.True, seen
}

// changeConditions returns the conditions of a document about firmware. ChangeDetected: spec and status differ. Valid:
// the BMC accepts the spec. fine and wrong are the kind's reasons.
func changeConditions(
	of hostapi.ObjectMeta, all []hostapi.Condition, differs bool, problems []hostapi.Problem, fine, wrong string,
	now time.Time,
) []hostapi.Condition {
	changed := hostapi.Condition{
		Type: hostapi.ConditionChangeDetected, Status: hostapi.False, Reason: fine,
		ObservedGeneration: of.Generation, LastTransitionTime: hostapi.At(now),
	}
	valid := changed
	valid.Type, valid.Status, valid.Message = hostapi.ConditionValid, hostapi.True, worded(problems)
	if differs {
		changed.Status = hostapi.True
	}
	if len(problems) > 0 {
		valid.Status, valid.Reason = hostapi.False, wrong
	}
	return hostapi.WithCondition(hostapi.WithCondition(all, changed), valid)
}

// Change lists the changes to a machine's firmware.
type Change struct {
	settings      []any // arguments of bios.apply_configuration, sorted
	updates       []any // arguments of firmware.update, in their order
	UpdatesDiffer bool  // the updates to be done are others than those that were: some may only be gone
	Wanted        bool  // the spec asks for any setting or update, changed or not
}

// Asked reports whether something is to be done.
func (f Change) Asked() bool { return len(f.settings) > 0 || f.UpdatesDiffer }

// Steps do it.
func (f Change) Steps() (steps []node.Step) {
	if len(f.settings) > 0 {
		steps = append(steps,
			node.Step{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": f.settings}})
	}
	if len(f.updates) > 0 {
		steps = append(steps, node.Step{Interface: "firmware", Step: "update", Args: map[string]any{"settings": f.updates}})
	}
	return steps
}

// differing are the settings that are not as wanted, by name.
func differing(reported []node.BIOSSetting, wanted map[string]hostapi.IntOrString) (all []any) {
	for _, is := range reported {
		if want, ok := wanted[is.Name]; ok && !settingIs(is, want) {
			all = append(all, map[string]any{"name": is.Name, "value": want.Value()})
		}
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(settingName(a), settingName(b)) })
	return all
}

func settingName(of any) string {
	m, _ := of.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// undone are the updates that have not been done.
func undone(wanted, done []hostapi.FirmwareUpdate) (all []any) {
	for _, u := range wanted {
		if !slices.Contains(done, u) {
			all = append(all, map[string]any{"component": u.Component, "url": u.URL})
		}
	}
	return all
}

// Changes finds the changes to settings, to updates, or to both.
func Changes(facts Facts, settings, updates bool) (f Change) {
	if doc := facts.Documents.Settings; settings && doc != nil {
		wanted, _ := wantedSettings(facts, doc.Spec.Settings)
		f.Wanted = len(wanted) > 0
		if differ, _ := pending(doc.Generation, doc.Status.Conditions); differ {
			f.settings = differing(facts.Report.BIOS, wanted)
		}
	}
	if doc := facts.Documents.Components; updates && doc != nil {
		f.Wanted = f.Wanted || len(doc.Spec.Updates) > 0
		if f.UpdatesDiffer, _ = pending(doc.Generation, doc.Status.Conditions); f.UpdatesDiffer {
			f.updates = undone(doc.Spec.Updates, doc.Status.Updates)
		}
	}
	return f
}
