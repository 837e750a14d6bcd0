package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// FirmwareRead is a BMC's report of the firmware settings of a node at rest. People change these in the firmware's
// setup, without the conductor.
type FirmwareRead struct {
	simple
	Revision   int64  // of the node at the reading: a later save has newer values
	BootMode   string // "" when the BMC does not say
	SecureBoot *bool  // nil when it does not
}

// FirmwareNews reports whether a reading changes anything about n as it is.
// Most readings do not, and are not brought to Decide.
func FirmwareNews(n node.Node, e FirmwareRead) bool {
	is := believed(n, e.BootMode)
	mode := is != "" && is != n.BootMode
	secure := e.SecureBoot != nil && (n.SecureBoot == nil || *n.SecureBoot != *e.SecureBoot)
	return e.Revision == n.Revision && (mode || secure)
}

// handle records the reading. It leaves a reserved node alone.
func (e FirmwareRead) handle(d *decision) error {
	if d.f.EffectPending || !FirmwareNews(d.n, e) {
		return nil
	}
	if mode := believed(d.n, e.BootMode); mode != "" {
		d.bootModeIs(mode)
	}
	if e.SecureBoot != nil {
		d.n.SecureBoot = e.SecureBoot
	}
	d.dirty = true
	return nil
}
