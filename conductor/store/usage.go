package store

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Usage sums up the records of a project. It reads the project's rows by indexes, and all of the few images.
func (s *Database) Usage(ctx context.Context, project string) (node.Usage, error) {
	const nodes = "owner = ?1 AND owner <> ''"
	const parts = "node_uuid IN (SELECT uuid FROM nodes WHERE " + nodes + ")" // lessees add none of these
	const shared = "node_uuid IN (SELECT uuid FROM nodes WHERE " + nodes +
		" UNION SELECT uuid FROM nodes WHERE lessee = ?1 AND lessee <> '')"
	const own = "owner = ?1"
	where := map[string]string{"nodes": nodes, "ports": parts, "portgroups": parts, "volume_connectors": shared,
		"volume_targets": shared, "allocations": own, "runbooks": own, "images": s.dialect.text("owner") + " = ?1"}
	used := node.Usage{}
	for table, rows := range where {
		var count, bytes int64
		if err := s.read.row(ctx, []any{&count, &bytes}, "SELECT count(*), CAST(coalesce(sum("+
			storedBytes(table)+"), 0) AS BIGINT) FROM "+table+" WHERE "+rows, project); err != nil {
			return nil, fmt.Errorf("count the %s of project %s: %w", table, project, err)
		}
		used[table] = count
		used[node.UsageBytes] += bytes
	}
	return used, nil
}
