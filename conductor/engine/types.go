package engine

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/records"
)

// The parts of an engine, as its users name them.
type (
	// Config is what an engine is made of.
	Config    = core.Config
	Store     = core.Store
	Proof     = core.Proof
	Discovery = core.Discovery
	Images    = core.Images
	BootLogs  = core.BootLogs

	BMC              = core.BMC
	Stepper          = core.Stepper
	SecureBooter     = core.SecureBooter
	MediaLoader      = core.MediaLoader
	Indicators       = core.Indicators
	Monitor          = core.Monitor
	Interrupter      = core.Interrupter
	HardwareReporter = core.HardwareReporter
	Consoles         = core.Consoles
	Vendor           = core.Vendor

	Status     = core.Status
	Progress   = core.Progress
	RootDevice = core.RootDevice

	Catalogs       = records.Catalogs
	Catalog[T any] = records.Catalog[T]
)

// WithUser notes for whom the work of ctx is done: history entries name the user and
// their project, "" for none.
func WithUser(ctx context.Context, name, project string) context.Context {
	return core.WithUser(ctx, name, project)
}
