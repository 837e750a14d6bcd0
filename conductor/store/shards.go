package store

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Shards counts the nodes of each shard, by name; those in none come first.
func (s *SQLite) Shards(ctx context.Context) ([]node.Shard, error) {
	var all []node.Shard
	err := s.read.NewRaw("SELECT shard AS name, count(*) AS count FROM nodes GROUP BY shard ORDER BY shard").Scan(ctx, &all)
	if err != nil {
		return nil, fmt.Errorf("count the nodes of each shard: %w", err)
	}
	return all, nil
}
