package engine

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/records"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The parts of an engine, as its users name them.

type (
	// Config holds the dependencies and settings of an engine.
	Config = core.Config
	// Store keeps nodes and their records.
	Store = core.Store
	// RamdiskAuth is how a ramdisk shows that it runs on the machine of a node.
	RamdiskAuth = core.RamdiskAuth
	// Discovery configures the enrolment of unknown machines.
	Discovery = core.Discovery
	// Images finds images.
	Images = core.Images
	// Networks changes the networks of machines.
	Networks = core.Networks
	// ImageProbe looks at images before a deploy.
	ImageProbe = core.ImageProbe
	// BootLogs keeps the logs of machines.
	BootLogs = core.BootLogs
	// BMC is one kind of board management controller.
	BMC = core.BMC
	// Stepper is a BMC with steps.
	Stepper = core.Stepper
	// SecureBooter is a BMC that knows secure boot.
	SecureBooter = core.SecureBooter
	// MediaLoader is a BMC with virtual drives.
	MediaLoader = core.MediaLoader
	// Indicators is a BMC with indicators.
	Indicators = core.Indicators
	// Monitor is a BMC that reports health.
	Monitor = core.Monitor
	// Interrupter is a BMC that injects an NMI.
	Interrupter = core.Interrupter
	// HardwareReporter is a BMC that reports BIOS settings and firmware.
	HardwareReporter = core.HardwareReporter
	// Consoles is a BMC with consoles.
	Consoles = core.Consoles
	// Vendor is a BMC with vendor methods.
	Vendor = core.Vendor
	// HeldNode is a node of which a restore means something.
	HeldNode = core.HeldNode
	// Status describes the current work of a node, its wait and its progress.
	Status = core.Status
	// BootStage is a point on a machine's way into the ramdisk.
	BootStage = core.BootStage
	// Listener hears of every change that is stored.
	Listener = core.Listener
	// Observation is the state of a machine that conductors see and do not write with its node.
	Observation = core.Observation
	// Progress is how far a step is.
	Progress = core.Progress
	// RootDevice is a choice of a root device.
	RootDevice = core.RootDevice
	// Catalogs has the records that operators keep beside nodes.
	Catalogs = records.Catalogs
	// Catalog is the records of one type.
	Catalog[T any] = records.Catalog[T]
)

// EachNode listens to each write to a node.
func EachNode(changed func(n node.Node)) Listener { return core.EachNode(changed) }

// Trail gathers the changes of a request.
type Trail = core.Trail

// TraceDocument notes a document that was written with ctx.
func TraceDocument(ctx context.Context, name string, was, is map[string]any, hidden ...string) {
	core.TraceDocument(ctx, name, was, is, hidden...)
}

// WithTrail attaches a trail to ctx. The trail records the changes that are made with ctx.
func WithTrail(ctx context.Context) (context.Context, *Trail) { return core.WithTrail(ctx) }

// WithUser names the user of all work that is done with ctx. History entries name the user and their project, "" for
// none.
func WithUser(ctx context.Context, name, project string) context.Context {
	return core.WithUser(ctx, name, project)
}
