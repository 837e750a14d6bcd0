package store

import "github.com/ferrite-metal/ferrite/conductor/node"

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
	if err := eraseReports.insert(t, &v); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM erase_reports WHERE of_node = ? AND id <= (
		SELECT id FROM erase_reports WHERE of_node = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
		v.NodeUUID, v.NodeUUID, node.EraseReportsKept)
	return err
}
