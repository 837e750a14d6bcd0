package core

import (
	"context"
	"errors"
	"io"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// The interfaces below are abilities that a BMC driver may have in addition to BMC. If the driver lacks an ability, an
// operator's request for it fails with Ironic's error text, and the engine skips its own calls.

// Stepper is a BMC with steps of its own: BIOS settings, RAID volumes, firmware. DoStep begins a step, or polls one for
// which it returned a Task. If it gets a step again, it must find out by itself whether that was begun: a conductor may
// die at any moment.
type Stepper interface {
	Steps(n node.Node) []node.StepOffer
	DoStep(ctx context.Context, n node.Node, s node.Step, task string) (node.StepReport, error)
}

// HardwareReporter is a BMC that reports BIOS settings and firmware. A part it cannot report
// is left nil, and is no error.
type HardwareReporter interface {
	ReportHardware(ctx context.Context, n node.Node) (node.HardwareReport, error)
}

// Monitor is a BMC that reports its machine's health along with the power.
type Monitor interface {
	Vitals(ctx context.Context, n node.Node) (node.Vitals, error)
}

// SecureBooter is a BMC that has a say in secure boot.
type SecureBooter interface {
	// SecureBoot answers whether it is on, nil when the BMC does not say.
	SecureBoot(ctx context.Context, n node.Node) (*bool, error)
	// SetSecureBoot returns once the BMC has accepted it; some firmware takes
	// it only as the machine starts.
	SetSecureBoot(ctx context.Context, n node.Node, on bool) error
}

// SystemNamer is a BMC that reports the SMBIOS UUID of its machine; "" when it has none. It takes one short request,
// unlike BMC.System.
type SystemNamer interface {
	SystemUUID(ctx context.Context, n node.Node) (string, error)
}

// Volatile is a driver for machines that live in this process: they lose their state when it ends.
type Volatile interface {
	Volatile() bool
}

// ByHand replaces a BMC if there is none: SetPower asks a person, and PowerState is the state that they confirmed.
type ByHand interface {
	// Awaited returns the target of a SetPower that is not confirmed yet; "" for none.
	Awaited(uuid string) node.PowerState
	// Confirm accepts a person's statement that the machine is on or off. It returns a *node.Refusal if that is not
	// awaited.
	Confirm(n node.Node, state node.PowerState) error
	// Withdraw forgets the awaited target.
	Withdraw(uuid string)
}

// Interrupter is a BMC that can send its machine a non-maskable interrupt.
type Interrupter interface {
	InjectNMI(ctx context.Context, n node.Node) error
}

// Indicators is a BMC that has lights. An indicator that is not there, or a
// state that it cannot show, is a refusal.
type Indicators interface {
	Indicators(ctx context.Context, n node.Node) ([]node.Indicator, error)
	IndicatorState(ctx context.Context, n node.Node, component, name string) (string, error)
	SetIndicatorState(ctx context.Context, n node.Node, component, name, state string) error
}

// Consoles is a BMC with a console of the machine.
type Consoles interface {
	// ValidateConsole reports the settings that are missing. It sends no request to a BMC.
	ValidateConsole(n node.Node) error
	SetConsole(ctx context.Context, n node.Node, on bool) error
	// Console returns the console's type and url, the keys that clients of Ironic expect, or nothing.
	Console(ctx context.Context, n node.Node) (map[string]any, error)
}

// ConsoleOpener is a BMC that forwards the machine's serial line. take ends the connection of another client; closing
// frees the line.
type ConsoleOpener interface {
	OpenConsole(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error)
}

// MediaLoader is a BMC with virtual drives. AttachMedium empties the drives of its kind first. DetachMedia empties the
// drives of the named kinds, or all if none is named. Both are harmless to repeat.
type MediaLoader interface {
	MediaSlots(ctx context.Context, n node.Node) ([]node.MediaSlot, error)
	AttachMedium(ctx context.Context, n node.Node, m node.Medium) error
	DetachMedia(ctx context.Context, n node.Node, devices []string) error
}

// Vendor is a BMC with methods of its own. CheckVendor refuses a call before it begins; the result of CallVendor is
// shown as JSON.
type Vendor interface {
	VendorMethods() []node.VendorMethod
	CheckVendor(ctx context.Context, n node.Node, method string, args map[string]any) error
	CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error)
}

// SensorReader reads a BMC's sensors, and the health of parts.
type SensorReader interface {
	Sensors(ctx context.Context, n node.Node) (node.SensorReport, error)
}

// PartReader reads the parts of a machine beyond System's. It may take many requests.
type PartReader interface {
	Parts(ctx context.Context, n node.Node) (node.Parts, error)
}

// Extension returns an ability of a node's BMC driver beyond BMC. The node's interface of this kind must not be
// switched off. The refusal names the ability by Ironic's name for it.
func Extension[T any](n node.Node, bmc BMC, kind, what string) (T, error) {
	able, ok := bmc.(T)
	if !ok || n.Idle(kind) {
		return able, node.Unsupported(n, what)
	}
	return able, nil
}

// BmcFault turns an error of a BMC into a refusal with the BMC's own message. The caller may have no access to the log,
// and the BMC knows its fault best.
func BmcFault(err error) error {
	var refusal *node.Refusal
	if err == nil || errors.As(err, &refusal) || errors.Is(err, context.Canceled) {
		return err
	}
	kind := node.BMCFailed
	var slow interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
		kind = node.BMCSilent
	}
	return node.Refuse(kind, "%s", plan.Clip(err.Error()))
}
