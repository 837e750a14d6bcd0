package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// eraseReports is the table of erase reports. It refers to no node: the proof that a machine's disks were erased
// outlives the machine's record.
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

// EraseReports lists reports in the order of their creation, or against it.
func (s *Database) EraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error) {
	if q.Marker != "" {
		known, err := s.read.texts(ctx, "SELECT uuid FROM erase_reports WHERE uuid = ?", q.Marker)
		if err != nil {
			return nil, fmt.Errorf("read erase report %s: %w", q.Marker, err)
		}
		if len(known) == 0 {
			return nil, eraseReports.missing(q.Marker)
		}
	}
	sel := selectEraseReports(s.dialect, &q)
	var rows []recordRow // before any is decoded: there are only a few readers
	err := s.read.each(ctx, func(r *sql.Rows) error {
		var row recordRow
		if err := r.Scan(&row.uuid, &row.doc); err != nil {
			return err
		}
		rows = append(rows, row)
		return nil
	}, sel.String(), sel.values...)
	if err != nil {
		return nil, fmt.Errorf("list erase reports: %w", err)
	}
	var all []node.EraseReport
	for _, row := range rows {
		report, err := decode[node.EraseReport](row.doc)
		if err != nil {
			return nil, fmt.Errorf("read erase report %s: %w", row.uuid, err)
		}
		all = append(all, report)
	}
	return all, nil
}

// selectEraseReports has one text for each combination of filters. A marker must exist.
func selectEraseReports(d dialect, q *node.EraseReportQuery) *query {
	after, order := ">", ""
	if q.Desc {
		after, order = "<", " DESC"
	}
	sel := newQuery(d, "SELECT uuid, doc FROM erase_reports")
	if q.NodeUUID != "" {
		sel.where("of_node = ?", q.NodeUUID)
	}
	if p := q.Project; p != "" {
		sel.where("of_node IN (SELECT uuid FROM nodes WHERE ? IN (owner, lessee))", p)
	}
	if q.Marker != "" {
		sel.where("id "+after+" (SELECT id FROM erase_reports WHERE uuid = ?)", q.Marker)
	}
	sel.add(" ORDER BY id" + order)
	if q.Limit > 0 {
		sel.add(" LIMIT ?", q.Limit)
	}
	return sel
}

// OrphanReportsKept is the age at which the erase reports of nodes that are gone are deleted.
const OrphanReportsKept = 5 * 365 * 24 * time.Hour

// DropOldEraseReports deletes reports from before a time, if their node is gone.
func (s *Database) DropOldEraseReports(ctx context.Context, before time.Time) (dropped int64, err error) {
	err = s.w.do(freeing(ctx), func(t *tx) error {
		dropped, err = t.exec("DELETE FROM erase_reports WHERE "+t.text("created_at")+" < ? AND NOT EXISTS "+
			"(SELECT 1 FROM nodes WHERE nodes.uuid = erase_reports.of_node)", before.UTC().Format(time.RFC3339))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete old erase reports: %w", err)
	}
	return dropped, nil
}
