package mem

import (
	"cmp"
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// EraseReports lists reports in the order of their creation, or against it.
func (s *Store) EraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	turn := int64(1)
	if q.Desc {
		turn = -1
	}
	marker := s.eraseReports.rows[q.Marker]
	if q.Marker != "" && marker == nil {
		return nil, s.eraseReports.missing(q.Marker)
	}
	var rows []*row[node.EraseReport]
	for _, r := range s.eraseReports.rows {
		if (marker == nil || turn*r.id > turn*marker.id) && s.wantedReport(&q, &r.v) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row[node.EraseReport]) int { return cmp.Compare(turn*a.id, turn*b.id) })
	return cloneRows(rows, q.Limit), nil
}

// wantedReport reports whether every filter that is set lets r through.
func (s *Store) wantedReport(q *node.EraseReportQuery, r *node.EraseReport) bool {
	if q.NodeUUID != "" && q.NodeUUID != r.NodeUUID {
		return false
	}
	of := s.nodes.rows[r.NodeUUID]
	return q.Project == "" || of != nil && concerns(&of.v, q.Project)
}
