package redfish

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Ask is a request under the check of the deviations.
type Ask struct {
	*http.Request
	Body map[string]any // nil for none
	On   func() bool    // whether the machine is on
	// since reports whether something happened less than a time ago; nil for a BMC that does not remember.
	since  func(happening, time.Duration) bool
	delays Delays
}

// refusal is the answer of a deviation to the requests that fit.
type refusal struct {
	deviation Deviation
	problem   *problemError
	fits      func(Ask) bool
}

const insertName, ejectName, resetName = "VirtualMedia.InsertMedia", "VirtualMedia.EjectMedia", "ComputerSystem.Reset"

// The members of a boot override.
const (
	overrideTarget  = "BootSourceOverrideTarget"
	overrideEnabled = "BootSourceOverrideEnabled"
	overrideMode    = "BootSourceOverrideMode"
)

// refusals are the deviations that refuse requests. The first that fits answers.
var refusals = slices.Concat(requestRefusals, bootRefusals, mediaRefusals, resetRefusals)

var requestRefusals = []refusal{
	{IdentityRefused, problem(notAcceptable), func(a Ask) bool {
		return a.Header.Get("Accept-Encoding") == "identity" && strings.HasPrefix(a.URL.Path, registryPath)
	}},
	{NotReady, problem(dataUnavailable), func(a Ask) bool {
		inside, below := strings.CutPrefix(a.URL.Path, systemPath)
		return below && !strings.HasPrefix(inside, "/Actions") && (inside != "" || a.Method == http.MethodPatch) &&
			a.soon(machineStarted, a.delays.NotReady)
	}},
	{ETagsNotForActions, problem(preconditionFailed), func(a Ask) bool {
		return a.Method == http.MethodPost && a.Header.Get("If-Match") != ""
	}},
	{ETagsRequired, problem(preconditionRequired), func(a Ask) bool {
		return a.Method == http.MethodPatch && a.Header.Get("If-Match") == ""
	}},
	{ETagsNeverMatch, problem(preconditionFailed), func(a Ask) bool { return a.tags(func(string) bool { return true }) }},
	{ETagsWeakRefused, problem(preconditionFailed), func(a Ask) bool {
		return a.tags(func(tag string) bool { return strings.HasPrefix(tag, "W/") })
	}},
	{ETagsQuotedRefused, problem(preconditionFailed), func(a Ask) bool {
		return a.tags(func(tag string) bool { return strings.Contains(tag, `"`) })
	}},
}

var bootRefusals = []refusal{
	{BootInSettings, problem(operationNotAllowed), func(a Ask) bool {
		return a.boot() != nil && !strings.HasSuffix(a.URL.Path, "/Settings")
	}},
	{BootLockedInPOST, problem(lockedInPOST), func(a Ask) bool {
		return a.boot() != nil && a.On() && a.soon(machineStarted, a.delays.POST)
	}},
	{FullBootRequest, problem(propertyMissing, overrideMode).about("#/Boot/" + overrideMode), func(a Ask) bool {
		b := a.boot()
		return b != nil && (b[overrideTarget] == nil || b[overrideEnabled] == nil || b[overrideMode] == nil)
	}},
	{ModeMissing, problem(propertyUnknown, overrideMode).about("#/Boot/" + overrideMode), func(a Ask) bool {
		return a.boot()[overrideMode] != nil
	}},
	{ModeRefusedAlong, problem(valueConflict, overrideMode, overrideTarget).about("#/Boot/" + overrideMode),
		func(a Ask) bool {
			b := a.boot()
			return b[overrideMode] != nil && (b[overrideTarget] != nil || b[overrideEnabled] != nil)
		}},
	{NoContinuous, problem(valueNotInList, string(qemu.Continuous), overrideEnabled).about("#/Boot/" + overrideEnabled),
		func(a Ask) bool { return a.boot()[overrideEnabled] == string(qemu.Continuous) }},
	{ContinuousRefused, problem(valueError, overrideEnabled).about("#/Boot/" + overrideEnabled),
		func(a Ask) bool { return a.boot()[overrideEnabled] == string(qemu.Continuous) }},
	{UsbCd, problem(valueNotInList, string(qemu.TargetCd), overrideTarget).about("#/Boot/" + overrideTarget),
		func(a Ask) bool { return a.boot()[overrideTarget] == string(qemu.TargetCd) }},
}

var mediaRefusals = []refusal{
	{MediaRefusesFlags, problem(notWritable, "Inserted").about("#/Inserted"), func(a Ask) bool {
		return a.action(insertName) && (a.Body["Inserted"] != nil || a.Body["WriteProtected"] != nil)
	}},
	{MediaWantsProtocol, problem(parameterMissing, insertName, "TransferProtocolType").about("#/TransferProtocolType"),
		func(a Ask) bool { return a.action(insertName) && a.lacks("TransferProtocolType") }},
	{MediaWantsCredentials, problem(parameterMissing, insertName, "UserName").about("#/UserName"),
		func(a Ask) bool { return a.action(insertName) && (a.lacks("UserName") || a.lacks("Password")) }},
	{SlowEject, problem(internalError).because(errors.New("an eject is in progress")),
		func(a Ask) bool { return a.action(insertName) && a.soon(mediaEjected, a.delays.Eject) }},
	{EjectWantsBody, problem(unsupportedMedia), func(a Ask) bool {
		return a.action(ejectName) && a.ContentLength == 0
	}},
}

var resetRefusals = []refusal{
	{BusyAfterReset, problem(wrongSystemState), func(a Ask) bool {
		return a.action(resetName) && a.soon(buttonPressed, a.delays.Busy)
	}},
	{BusyAfterPowerOff, problem(parameterConflict, string(qemu.ResetOn), "ResetType"), func(a Ask) bool {
		return a.resets(qemu.ResetOn, qemu.ResetForceOn) && !a.On() && a.soon(machineStopped, a.delays.Busy)
	}},
	{AlreadyThereRefused, problem(alreadyThere, "on"), func(a Ask) bool {
		return a.resets(qemu.ResetOn, qemu.ResetForceOn) && a.On()
	}},
	{AlreadyThereRefused, problem(alreadyThere, "off"), func(a Ask) bool {
		return a.resets(qemu.ResetForceOff, qemu.ResetGracefulShutdown) && !a.On()
	}},
}

// Refuse returns the answer of a controller with these deviations to a request that it refuses; nil for others.
func Refuse(deviations []Deviation, a Ask) error {
	for _, r := range refusals {
		if slices.Contains(deviations, r.deviation) && r.fits(a) {
			return r.problem
		}
	}
	return nil
}

// soon reports whether something happened less than a time ago.
func (a Ask) soon(h happening, d time.Duration) bool { return a.since != nil && a.since(h, d) }

// action reports whether the request is for an action of this name.
func (a Ask) action(name string) bool {
	return a.Method == http.MethodPost && strings.HasSuffix(a.URL.Path, "/Actions/"+name)
}

// resets reports whether the request is for one of these resets of the machine.
func (a Ask) resets(kinds ...qemu.ResetType) bool {
	kind, _ := a.Body["ResetType"].(string)
	return a.action(resetName) && slices.Contains(kinds, qemu.ResetType(kind))
}

// lacks reports whether a member of the body is missing or empty.
func (a Ask) lacks(member string) bool { return a.Body[member] == nil || a.Body[member] == "" }

// boot is the change of the boot override; nil for none.
func (a Ask) boot() map[string]any {
	boot, _ := a.Body["Boot"].(map[string]any)
	if a.Method != http.MethodPatch {
		return nil
	}
	return boot
}

// tags reports whether a change or an action has an If-Match with ETags that are all of a kind.
func (a Ask) tags(kind func(tag string) bool) bool {
	list := a.Header.Get("If-Match")
	if list == "" || a.Method == http.MethodGet || a.Method == http.MethodHead {
		return false
	}
	for tag := range strings.SplitSeq(list, ",") {
		if !kind(strings.TrimSpace(tag)) {
			return false
		}
	}
	return true
}
