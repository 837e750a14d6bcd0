package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func (t *tx) putHardwareReport(uuid string, report *node.HardwareReport) error {
	doc, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("encode the hardware report of node %s: %w", uuid, err)
	}
	_, err = t.exec("INSERT INTO told (node_uuid, doc) VALUES (?, ?) ON CONFLICT (node_uuid) DO UPDATE SET doc = "+
		"excluded.doc",
		uuid, string(doc))
	return err
}

// HardwareReport returns the last report of a node's BMC.
func (s *Database) HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error) {
	var doc string
	err := s.read.row(ctx, []any{&doc}, "SELECT doc FROM told WHERE node_uuid = ?", nodeUUID)
	if errors.Is(err, sql.ErrNoRows) {
		return node.HardwareReport{}, nil
	}
	if err != nil {
		return node.HardwareReport{}, fmt.Errorf("read the hardware report of node %s: %w", nodeUUID, err)
	}
	return decode[node.HardwareReport](doc)
}
