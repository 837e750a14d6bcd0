package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// FirmwareRead is what the BMC of a node at rest says of how its firmware
// starts the machine. People change that behind our back, in the firmware's
// setup.
type FirmwareRead struct {
	simple
	Revision   int64  // of the node whose BMC was asked: what was saved meanwhile knows better
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

// handle records what was read. A node that is reserved is left alone.
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
