package core

import (
	"context"
	"errors"
	"io"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// The interfaces below are what a BMC may have beyond BMC. An operator who asks
// for one that the driver lacks is answered in Ironic's words; what the engine
// would have asked by itself is left out.

// Stepper is a BMC that has steps of its own: BIOS settings, RAID volumes,
// firmware. DoStep begins a step, or asks after one that it answered a Task
// for; it must find out by itself whether a step it is given again was begun
// before (a conductor may die at any moment).
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

// SystemNamer is a BMC that reports the UUID of its machine, as SMBIOS has it; "" when it has none. It is one short
// question, unlike BMC.System.
type SystemNamer interface {
	SystemUUID(ctx context.Context, n node.Node) (string, error)
}

// Volatile is a driver whose machines live in this process: what an earlier one had them do is forgotten.
type Volatile interface {
	Volatile() bool
}

// ByHand stands for a BMC where there is none: SetPower asks a person, and PowerState is as they confirmed it.
type ByHand interface {
	// Awaited is the target of a SetPower that nobody has confirmed yet; "" for none.
	Awaited(uuid string) node.PowerState
	// Confirm takes somebody's word that the machine is on or off; a *node.Refusal where that is not awaited.
	Confirm(n node.Node, state node.PowerState) error
	// Withdraw forgets what is awaited.
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

// Consoles is a BMC whose machine's console can be used.
type Consoles interface {
	// ValidateConsole says what is missing for it. It asks no BMC.
	ValidateConsole(n node.Node) error
	SetConsole(ctx context.Context, n node.Node, on bool) error
	// Console is how to reach the console, as clients of Ironic know it: type
	// and url, or nothing.
	Console(ctx context.Context, n node.Node) (map[string]any, error)
}

// ConsoleOpener is a BMC that passes the machine's serial line on. take ends the
// connection of somebody else; closing gives the line back.
type ConsoleOpener interface {
	OpenConsole(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error)
}

// MediaLoader is a BMC with virtual drives. AttachMedium empties the drives of
// its kind first; DetachMedia empties those of the kinds named, all for none.
// Both are harmless to repeat.
type MediaLoader interface {
	MediaSlots(ctx context.Context, n node.Node) ([]node.MediaSlot, error)
	AttachMedium(ctx context.Context, n node.Node, m node.Medium) error
	DetachMedia(ctx context.Context, n node.Node, devices []string) error
}

// Vendor is a BMC with methods of its own. CheckVendor refuses a call before it
// is begun; what CallVendor answers is shown as JSON.
type Vendor interface {
	VendorMethods() []node.VendorMethod
	CheckVendor(ctx context.Context, n node.Node, method string, args map[string]any) error
	CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error)
}

// SensorReader reads what a BMC measures, and the health of parts.
type SensorReader interface {
	Sensors(ctx context.Context, n node.Node) (node.SensorReport, error)
}

// PartReader reads what a machine is made of, beyond what System has. It may take many requests.
type PartReader interface {
	Parts(ctx context.Context, n node.Node) (node.Parts, error)
}

// Extension finds what a node's BMC has beyond BMC; kind is the interface that
// must not be switched off, what the name that Ironic has for the ability.
func Extension[T any](n node.Node, bmc BMC, kind, what string) (T, error) {
	able, ok := bmc.(T)
	if !ok || n.Idle(kind) {
		return able, node.Unsupported(n, what)
	}
	return able, nil
}

// BmcFault is an error of a BMC in the words for its caller, who need not read the log: the
// BMC knows best what is wrong with it.
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
