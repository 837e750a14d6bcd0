package node

import "time"

// Import is the origin of an imported node, and its state there. A later import compares with it to find the side on
// which a value has changed.
type Import struct {
	Source string            `json:"source"` // of the records: a URL
	At     time.Time         `json:"at"`
	Base   map[string]string `json:"base,omitempty"` // digests of the records at the source, by item
	// FollowPower is set until this conductor first acts on the machine. Meanwhile the record of the power follows the
	// machine, because another program may still be switching it.
	FollowPower bool `json:"follow_power,omitempty"`
}

// FollowsPower reports whether the power sync corrects the record of n, and never the machine.
func (n *Node) FollowsPower() bool { return n.Import != nil && n.Import.FollowPower }

// Bundle is a node with all records that belong to it.
type Bundle struct {
	Node       Node
	Ports      []Port
	Portgroups []Portgroup
	Connectors []VolumeConnector
	Targets    []VolumeTarget
	Allocation *Allocation
	Inspected  *Inspected // nil for none
}

// ImportRequest is a node as another program knows it. Interfaces without a name get their default.
type ImportRequest struct {
	Source    string // the program: a URL
	Bundle    Bundle
	DryRun    bool // only report the records that would be written
	Overwrite bool // also values that were changed here since the last import
}

// ImportOutcome is the end of an import.
type ImportOutcome string

// The outcomes. Nothing is written for a conflict.
const (
	ImportCreated   ImportOutcome = "created"
	ImportChanged   ImportOutcome = "changed"
	ImportUnchanged ImportOutcome = "unchanged"
	ImportConflict  ImportOutcome = "conflict"
)

// ImportResult lists the values that an import has written, or would write.
type ImportResult struct {
	Outcome   ImportOutcome
	UUID      string
	Changes   []Difference // written
	Kept      []Difference // changed here since the last import, and not there: they stay
	Conflicts []Difference // changed here, and other than there
}

// Difference is an item that both sides of an import have with other values, without secrets.
type Difference struct {
	Item        string
	Here, There any  // as JSON; nil for none
	Secret      bool // a secret in it differs
}
