// Package engine puts the parts of an engine together: the core that decides and writes,
// and beside it records, the power sync, the answers for ramdisks, the calls to
// hardware, and the jobs that carry effects out.
//
// It must not do anything itself.
package engine

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/hardware"
	"github.com/ferrite-metal/ferrite/conductor/engine/jobs"
	"github.com/ferrite-metal/ferrite/conductor/engine/powersync"
	"github.com/ferrite-metal/ferrite/conductor/engine/ramdisk"
	"github.com/ferrite-metal/ferrite/conductor/engine/records"
)

// Engine runs the nodes of one conductor. It is safe for concurrent use.
type Engine struct {
	*core.Core
	*records.Records
	*powersync.Sync
	*ramdisk.Ramdisks
	*hardware.Hardware
}

// New makes an engine; Run starts it.
func New(c Config) *Engine {
	inner := core.New(c)
	e := &Engine{
		Core: inner, Records: records.New(inner), Sync: powersync.New(inner),
		Ramdisks: ramdisk.New(inner), Hardware: &hardware.Hardware{Core: inner},
	}
	inner.Perform = (&jobs.Jobs{Core: inner, Vitals: e.Sync}).Perform
	return e
}

// Run carries out effects, watches deadlines, reads power states and gives nodes to
// allocations until ctx ends. Then it waits for the work under way, which ctx has
// cancelled.
func (e *Engine) Run(ctx context.Context) { e.Core.Run(ctx, e.Sync.Run, e.Records.Run) }
