package plan

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The keys in driver_internal_info of a discovered node: the time of discovery, and the DMI UUID of its machine ("" if
// unknown).
const (
	discoveredAt = "discovered_at"
	systemUUID   = "system_uuid"
)

// Undecided reports whether a node was found by discovery and no operator has taken it on yet.
func Undecided(n node.Node) bool {
	return n.ProvisionState == node.Enroll && n.DriverInternalInfo[discoveredAt] != nil
}

// SystemUUID returns the DMI UUID of a discovered node's machine; "" if unknown.
func SystemUUID(n node.Node) string { return text(n.DriverInternalInfo, systemUUID) }

// Discovered records the inspection data of a machine that was not enrolled. Its first call makes a new node in enroll;
// later calls update that node. Operators' rules do not run before a requested inspection: any sender that reaches the
// conductor can send this data.
func Discovered(n node.Node, f Facts, e Inspected, from netip.Addr, now time.Time) *node.Change {
	d := &decision{n: n.Clone(), f: f, now: now}
	d.learn(e.Data)
	d.inspected = &node.Inspected{Inventory: inventoryOf(e.Raw), PluginData: pluginDataOf(e.Data)}
	d.addPorts(e.Data, LinkedPorts) // without a port the machine would be unknown again
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	if e.Data.SystemUUID != "" {
		d.n.DriverInternalInfo[systemUUID] = e.Data.SystemUUID
	}
	d.history = nil // any sender that reaches the conductor could write it
	c := &node.Change{Save: &d.n, Inspected: d.inspected, AddPorts: d.ports}
	if d.n.DriverInternalInfo[discoveredAt] == nil {
		d.n.DriverInternalInfo[discoveredAt] = now.UTC().Format(time.RFC3339)
		d.note("INFO", fmt.Sprintf("found by discovery: a machine that is not enrolled called from %s", from))
		c.Insert, c.Save = &d.n, nil
	}
	c.History = d.history
	return c
}
