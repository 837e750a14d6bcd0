package store

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// portgroups is the table of portgroups.
const portgroups table[node.Portgroup, *node.Portgroup] = "portgroups"

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
	return portgroups.save(t, &v, string(doc))
}
