package store

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// eraseReports is the table of erase reports. It refers to no node: what proves
// that a machine's disks were erased outlives its record.
const eraseReports table[node.EraseReport, *node.EraseReport] = "erase_reports"

// putEraseReport adds a report, and drops the oldest of a node that has too many.
func (t *tx) putEraseReport(r *node.EraseReport) error {
	if r == nil {
		return nil
	}
	v := *r
	v.Revision = 1
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode erase report %s: %w", v.UUID, err)
	}
	if err := eraseReports.insert(t, &v, string(doc)); err != nil {
		return err
	}
	_, err = t.exec(`DELETE FROM erase_reports WHERE of_node = ? AND id <= (
		SELECT id FROM erase_reports WHERE of_node = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`, v.NodeUUID, v.NodeUUID, node.EraseReportsKept)
	return err
}
