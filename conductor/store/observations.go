package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Observation holds a conductor's observations of a node's machine, as a JSON object.
type Observation struct {
	Node, Doc string
}

// PutObservations stores observations of machines, in one transaction. Nodes that are gone or of another group are
// skipped. Only databases on a server have the table sights.
func (s *Database) PutObservations(ctx context.Context, all []Observation) error {
	err := s.w.do(ctx, func(t *tx) error {
		for _, one := range all {
			text, args := s.limited("INSERT INTO sights (node_uuid, doc) SELECT uuid, ? FROM nodes WHERE uuid = ?",
				nodesOfGroup, " FOR KEY SHARE ON CONFLICT (node_uuid) DO UPDATE SET doc = excluded.doc", one.Doc, one.Node)
			if _, err := t.exec(text, args...); err != nil {
				return fmt.Errorf("of node %s: %w", one.Node, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep the observations of %d machines: %w", len(all), err)
	}
	return nil
}

// Observation returns the observations of a node's machine; "" for none.
func (s *Database) Observation(ctx context.Context, nodeUUID string) (doc string, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&doc) },
		"SELECT doc FROM sights WHERE node_uuid = ?", nodeUUID)
	if err != nil {
		return "", fmt.Errorf("read the observations of node %s: %w", nodeUUID, err)
	}
	return doc, nil
}
