package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func (t *tx) putInspected(uuid string, i *node.Inspected) error {
	_, err := t.exec(`INSERT INTO inspected (node_uuid, inventory, plugin_data) VALUES (?, ?, ?) ON CONFLICT (node_uuid)
		DO UPDATE SET inventory = excluded.inventory, plugin_data = excluded.plugin_data`,
		uuid, string(i.Inventory), string(i.PluginData))
	return err
}

// Inspected returns the data of a node's last inspection.
func (s *Database) Inspected(ctx context.Context, nodeUUID string) (node.Inspected, error) {
	var inventory, plugin string
	err := s.read.row(ctx, []any{&inventory, &plugin},
		"SELECT inventory, plugin_data FROM inspected WHERE node_uuid = ?", nodeUUID)
	if errors.Is(err, sql.ErrNoRows) {
		return node.Inspected{}, node.Refuse(node.NotFound, "Node inventory record for node %s could not be found.", nodeUUID)
	}
	if err != nil {
		return node.Inspected{}, fmt.Errorf("read the inspection of node %s: %w", nodeUUID, err)
	}
	return node.Inspected{Inventory: raw(inventory), PluginData: raw(plugin)}, nil
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
