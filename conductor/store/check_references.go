package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// references are the references that no schema enforces. Each query finds the rows that break one, with the value found
// instead. A document that is no JSON is a fault of its own.
var references = []struct {
	table, want, do string
	since           int64
	query           string
}{
	{
		"nodes", "the next effect of a node at work", "abort or delete the node with a conductor, or " + restore, 1,
		"SELECT uuid, provision_state || ' and none' FROM nodes WHERE provision_state IN (" + statesOf(node.Working) + `)
			AND NOT EXISTS (SELECT 1 FROM effects WHERE node = nodes.uuid)`,
	},
	{
		"nodes", "a deadline, or a pending effect", "abort or delete the node with a conductor, or " + restore, 1,
		"SELECT uuid, provision_state || ' and neither' FROM nodes WHERE deadline = 0 AND provision_state IN (" +
			statesOf(node.Waiting) + `)
			AND NOT EXISTS (SELECT 1 FROM effects WHERE node = nodes.uuid)`,
	},
	{
		"nodes", "the allocation that it names, bound to it", restore, 7,
		`SELECT uuid, 'no such allocation of this node: ' || named FROM (` + namedAllocations + `) n
			WHERE named <> '' AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.uuid = named AND a.node_uuid = n.uuid)`,
	},
	{
		"allocations", "to be named by its node", restore, 7,
		`SELECT a.uuid, 'node ' || n.uuid || ' without it' FROM allocations a
			JOIN (` + namedAllocations + `) n ON n.uuid = a.node_uuid WHERE named <> a.uuid`,
	},
	{
		"objects", "its namespace", "create the namespace with a conductor, or " + restore, 12,
		`SELECT o.kind || ' ' || o.namespace || '/' || o.name, 'no namespace ' || o.namespace FROM objects o
			WHERE o.namespace <> ''
			AND NOT EXISTS (SELECT 1 FROM objects n WHERE n.kind = 'Namespace' AND n.name = o.namespace)`,
	},
	{
		"objects", "a revision that was given out", restore, 12,
		`SELECT kind || ' ' || namespace || '/' || name,
			revision || ', when the newest is ' || (SELECT max(revision) FROM objects_revision)
			FROM objects WHERE revision > (SELECT coalesce(max(revision), 0) FROM objects_revision)`,
	},
	{
		"objects_revision", "one row", restore, 12,
		"SELECT '', count(*) || ' rows' FROM objects_revision HAVING count(*) <> 1",
	},
}

// namedAllocations is the allocation that each node names; NULL where its document is no JSON.
const namedAllocations = "SELECT uuid, CASE WHEN {json} THEN {allocation} END AS named FROM nodes"

// statesOf is the states of a class as SQL texts.
func statesOf(class node.Class) string {
	var quoted []string
	for _, s := range slices.Sorted(maps.Keys(node.States)) {
		if s.Class() == class {
			quoted = append(quoted, "'"+string(s)+"'")
		}
	}
	return strings.Join(quoted, ", ")
}

func (c *checker) references(ctx context.Context) {
	words := strings.NewReplacer("{json}", c.isJSON, "{allocation}", c.text("allocation_uuid"))
	for _, r := range references {
		if !c.has(r.since) {
			continue
		}
		err := c.each(ctx, words.Replace(r.query), func(rows *sql.Rows) error {
			var row, found sql.NullString
			if err := rows.Scan(&row, &found); err != nil {
				return err
			}
			c.fault(r.table, row.String, r.want, found.String, r.do)
			return nil
		})
		if err != nil {
			c.fault(r.table, "", "references that can be read", err, restore)
		}
	}
}
