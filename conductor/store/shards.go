package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Shards counts the nodes of each shard, by name; those in none come first.
func (s *Database) Shards(ctx context.Context) ([]node.Shard, error) {
	var all []node.Shard
	err := s.read.each(ctx, func(rows *sql.Rows) error {
		var v node.Shard
		if err := rows.Scan(&v.Name, &v.Count); err != nil {
			return err
		}
		v.Name = s.dialect.read(v.Name)
		all = append(all, v)
		return nil
	}, "SELECT shard, count(*) FROM nodes GROUP BY shard ORDER BY shard")
	if err != nil {
		return nil, fmt.Errorf("count the nodes of each shard: %w", err)
	}
	return all, nil
}
