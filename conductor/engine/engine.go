// Package engine is the only writer of node state. It gathers the facts
// around an event, asks package plan what follows, saves the node together
// with the effect it then owes, carries effects out, and comes back with their
// outcome. It also declares what it needs from stores, BMC drivers and agents.
//
// It must not decide (that is plan's), know a driver or a database, or write
// a node in any other way than through plan or an operator's edit.
package engine

import "context"

// Engine runs the nodes of one conductor. It is safe for concurrent use.
type Engine struct {
	*Core
	*Records
	*PowerSync
	*Ramdisks
	*Hardware
}

// New makes an engine; Run starts it.
func New(c Config) *Engine {
	core := NewCore(c)
	e := &Engine{Core: core, Records: NewRecords(core), PowerSync: NewPowerSync(core), Ramdisks: NewRamdisks(core), Hardware: &Hardware{core}}
	core.Perform = (&Jobs{core, e.PowerSync}).Perform
	return e
}

// Run carries out effects, watches deadlines, reads power states and gives nodes to
// allocations until ctx ends. Then it waits for the work under way, which ctx has
// cancelled.
func (e *Engine) Run(ctx context.Context) { e.Core.Run(ctx, e.PowerSync.Run, e.Records.Run) }
