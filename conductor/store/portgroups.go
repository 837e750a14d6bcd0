package store

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// portgroups is the catalog of portgroups; s may be nil for what is written as
// a part of a change.
func portgroups(s *SQLite) catalog[node.Portgroup, *node.Portgroup] {
	return catalog[node.Portgroup, *node.Portgroup]{s, "portgroups"}
}

// savePortgroup writes a portgroup as a part of a change; nil is none.
func (t *tx) savePortgroup(g *node.Portgroup) error {
	if g == nil {
		return nil
	}
	v := *g
	v.Revision++
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode portgroup %s: %w", v.UUID, err)
	}
	return portgroups(nil).save(t, &v, string(doc))
}
