package plan

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Where driver_internal_info has that a node was found by discovery, and what
// DMI calls its machine ("" where that is not known).
const (
	discoveredAt = "discovered_at"
	systemUUID   = "system_uuid"
)

// Undecided reports whether a node was found by discovery and nobody has taken it
// on yet.
func Undecided(n node.Node) bool {
	return n.ProvisionState == node.Enroll && n.DriverInternalInfo[discoveredAt] != nil
}

// SystemUUID is what DMI calls the machine of a discovered node; "" when that is
// not known.
func SystemUUID(n node.Node) string { return text(n.DriverInternalInfo, systemUUID) }

// Discovered records the inspection data of a machine that was not enrolled: at its first
// call of a node in enroll that is new, later of the one it was given. Operators' rules wait
// for an inspection that somebody has asked for: whoever reaches the conductor can send
// this.
func Discovered(n node.Node, f Facts, e Inspected, from netip.Addr, now time.Time) *node.Change {
	d := &decision{n: n.Clone(), f: f, now: now}
	d.learn(e.Data)
	d.inspected = &node.Inspected{Inventory: inventoryOf(e.Raw), PluginData: pluginDataOf(e.Data)}
	d.addPorts(e.Data)
	if d.n.DriverInternalInfo == nil {
		d.n.DriverInternalInfo = map[string]any{}
	}
	if e.Data.SystemUUID != "" {
		d.n.DriverInternalInfo[systemUUID] = e.Data.SystemUUID
	}
	d.history = nil // whoever reaches the conductor could write it
	c := &node.Change{Save: &d.n, Inspected: d.inspected, AddPorts: d.ports}
	if d.n.DriverInternalInfo[discoveredAt] == nil {
		d.n.DriverInternalInfo[discoveredAt] = now.UTC().Format(time.RFC3339)
		d.note("INFO", fmt.Sprintf("found by discovery: a machine that is not enrolled called from %s", from))
		c.Insert, c.Save = &d.n, nil
	}
	c.History = d.history
	return c
}
