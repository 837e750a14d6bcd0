package firmware

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Reasons of conditions of HostFirmwareComponents.
const (
	ValidComponent   = "OK"
	InvalidComponent = "InvalidComponent"
)

// Components derives the HostFirmwareComponents of a host: every machine with a BMC that reports parts with firmware
// gets one. changed is false when it is up to date, or when this host has none.
func Components(facts Facts) (next hostapi.HostFirmwareComponents, changed bool) {
	parts, was := components(facts), facts.Documents.Components
	if !KeepsFirmware(facts) || was == nil && len(parts) == 0 {
		return next, false
	}
	next = hostapi.HostFirmwareComponents{
		ObjectMeta: hostapi.ObjectMeta{Name: facts.Host.Name, Namespace: facts.Host.Namespace},
		Spec:       hostapi.HostFirmwareComponentsSpec{Updates: []hostapi.FirmwareUpdate{}},
	}
	if was != nil {
		next = *was
	}
	next.OwnerReferences = hostapi.WithOwner(next.OwnerReferences, hostapi.KindHost, facts.Host.ObjectMeta)
	next.Status.Components = parts
	differs, problems := !slices.Equal(next.Spec.Updates, next.Status.Updates), []hostapi.Problem(nil)
	if differs {
		problems = wrongUpdates(next.Spec.Updates, parts)
	}
	next.Status.Conditions = changeConditions(next.ObjectMeta, next.Status.Conditions, differs, problems, ValidComponent,
		InvalidComponent, facts.Now)
	if was != nil && reflect.DeepEqual(next, *was) {
		return next, false
	}
	if was == nil || !reflect.DeepEqual(next.Status, was.Status) {
		at := hostapi.At(facts.Now)
		next.Status.LastUpdated = &at
	}
	return next, true
}

// components are the parts that the BMC has reported.
func components(facts Facts) (all []hostapi.FirmwareComponentStatus) {
	for _, c := range facts.Report.Firmware {
		if !hostapi.KnownComponent(c.Component) {
			continue
		}
		part := hostapi.FirmwareComponentStatus{
			Component: c.Component, InitialVersion: c.InitialVersion, CurrentVersion: c.CurrentVersion,
			LastVersionFlashed: c.LastVersionFlashed,
		}
		if !c.UpdatedAt.IsZero() {
			part.UpdatedAt = hostapi.At(c.UpdatedAt)
		}
		all = append(all, part)
	}
	return all
}

// wrongUpdates lists the updates that are not possible. A network card that was not seen yet may exist all the same:
// many BMCs show none while the machine is off.
func wrongUpdates(wanted []hostapi.FirmwareUpdate, parts []hostapi.FirmwareComponentStatus) (all []hostapi.Problem) {
	if len(wanted) > 0 && len(parts) == 0 {
		return []hostapi.Problem{{Path: "spec.updates", Reason: "the machine's BMC has reported no part with firmware"}}
	}
	for i, u := range wanted {
		if !hostapi.KnownComponent(u.Component) {
			path := fmt.Sprintf("spec.updates[%d].component", i)
			all = append(all,
				hostapi.Problem{Path: path, Value: u.Component, Reason: "expected bios, bmc, or nic: with a card's id"})
		}
	}
	return all
}
