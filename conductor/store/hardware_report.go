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
		return fmt.Errorf("encode what the BMC of node %s told: %w", uuid, err)
	}
	_, err = t.exec("INSERT OR REPLACE INTO told (node_uuid, doc) VALUES (?, ?)", uuid, string(doc))
	return err
}

// HardwareReport returns the last report of a node's BMC.
func (s *SQLite) HardwareReport(ctx context.Context, nodeUUID string) (node.HardwareReport, error) {
	var doc string
	err := s.read.NewRaw("SELECT doc FROM told WHERE node_uuid = ?", nodeUUID).Scan(ctx, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return node.HardwareReport{}, nil
	}
	if err != nil {
		return node.HardwareReport{}, fmt.Errorf("read what the BMC of node %s told: %w", nodeUUID, err)
	}
	return decode[node.HardwareReport](doc)
}
