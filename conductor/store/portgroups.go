package store

import "github.com/ferrite-metal/ferrite/conductor/node"

// portgroups is the table of portgroups.
const portgroups table[node.Portgroup, *node.Portgroup] = "portgroups"

// savePortgroup writes a portgroup as a part of a change.
func (t *tx) savePortgroup(g node.Portgroup) error {
	return portgroups.putAt(t, &g)
}
