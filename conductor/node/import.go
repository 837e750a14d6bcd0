package node

import "time"

// Import is where a node was imported from, and how it was there. A later import of the node tells by it which side has
// changed a value.
type Import struct {
	Source string            `json:"source"` // of the records: a URL
	At     time.Time         `json:"at"`
	Base   map[string]string `json:"base,omitempty"` // digests of the records at the source, by item
	// FollowPower: nothing was done to the machine from here yet, so the record of its power follows the machine.
	// Somebody else may still be switching it.
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
