package api

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxEraseReports is the longest page of erase reports, and the default. A summary is made
// from its whole report, which may have node.MaxEraseReport bytes.
const maxEraseReports = 100

// eraseReportArgs are the query arguments of the list of all erase reports.
func eraseReportArgs() []string { return []string{"limit", "marker", "node", "sort_dir", "sort_key"} }

// listAllEraseReports answers a page of the reports of all nodes that the caller may see. A caller with a project gets
// no reports of deleted nodes.
func (h *eraseReportResource) listAllEraseReports(c *rest.Call) error {
	p, err := c.Page(eraseReportKey, 1, 1)
	if err != nil {
		return err
	}
	p.Limit = min(p.Limit, maxEraseReports)
	p.Marker = strings.ToLower(p.Marker)
	q := node.EraseReportQuery{Project: c.Project(), Desc: p.Desc, Marker: p.Marker}
	filters := []rest.Filter[node.EraseReportQuery]{{Name: "node", Since: 1,
		Apply: func(q *node.EraseReportQuery, ref string) (err error) {
			q.NodeUUID, err = h.nodeOrDeleted(c, ref)
			return err
		}}}
	if err := rest.Narrow(c, &q, filters, eraseReportArgs()...); err != nil {
		return err
	}
	if err := h.permitReportMarker(c, p.Marker); err != nil {
		return err
	}
	return rest.AnswerList(h.Server, c, p, "erase_reports", h.summaries(c, q),
		func(s *nodeapi.EraseSummary) string { return s.UUID },
		func(dst []byte, s *nodeapi.EraseSummary) []byte { return rest.AppendAny(dst, s) })
}

// reportBatch is how many reports are in memory at a time.
const reportBatch = 8

// summaries reads the reports that match.
func (h *eraseReportResource) summaries(c *rest.Call, q node.EraseReportQuery) rest.Items[nodeapi.EraseSummary] {
	return func(yield func(*nodeapi.EraseSummary, error) bool) {
		for q.Limit = reportBatch; ; {
			reports, err := h.conductor.ListEraseReports(c.Request().Context(), q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range reports {
				s, err := summary(r)
				if !yield(&s, err) {
					return
				}
				q.Marker = r.UUID
			}
			if len(reports) < reportBatch {
				return
			}
		}
	}
}

// eraseReportKey has one order: that in which reports were signed.
func eraseReportKey(_ int, name string) (string, error) {
	switch name {
	case "", "id", "signed_at":
		return "", nil
	}
	return "", rest.BadRequest("The sort_key value %q is an invalid field for sorting", name)
}

// nodeOrDeleted is the UUID of a node. Without a project the caller may name a deleted node by UUID.
func (h *eraseReportResource) nodeOrDeleted(c *rest.Call, ref string) (string, error) {
	uuid, err := h.nodeOf(c, ref)
	if isNotFound(err) && c.Project() == "" && rest.ValidUUID(ref) {
		return strings.ToLower(ref), nil
	}
	return uuid, err
}

// permitReportMarker is permitMarker for a report, which is its node's.
func (h *eraseReportResource) permitReportMarker(c *rest.Call, marker string) error {
	if c.Project() == "" || marker == "" {
		return nil
	}
	r, err := h.conductor.EraseReport(c.Request().Context(), marker)
	if err == nil {
		err = h.permitMarker(c, r.NodeUUID)
	}
	if isNotFound(err) {
		return node.Refuse(node.NotFound, "Erase report %s could not be found.", marker)
	}
	return err
}
