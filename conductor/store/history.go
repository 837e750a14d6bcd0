package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// record adds entries to the history, of which each node keeps the newest HistoryKept.
func (t *tx) record(entries []node.HistoryEntry) error {
	for i := range entries {
		e := &entries[i]
		doc, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode history of node %s: %w", e.NodeUUID, err)
		}
		if _, err := t.exec("INSERT INTO history (node_uuid, doc) VALUES (?, ?)", e.NodeUUID, string(doc)); err != nil {
			if orphan(err) {
				return noNode(e.NodeUUID)
			}
			return err
		}
		if _, err := t.exec(`DELETE FROM history WHERE node_uuid = ?1 AND id <= (
			SELECT id FROM history WHERE node_uuid = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
			e.NodeUUID, HistoryKept); err != nil {
			return err
		}
	}
	return nil
}

// History returns the newest entries of a node, oldest first.
func (s *Database) History(ctx context.Context, nodeUUID string) ([]node.HistoryEntry, error) {
	docs, err := s.read.texts(ctx, "SELECT doc FROM history WHERE node_uuid = ? ORDER BY id", nodeUUID)
	if err != nil {
		return nil, fmt.Errorf("read the history of node %s: %w", nodeUUID, err)
	}
	return decodeAll[node.HistoryEntry](docs)
}
