package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// eraseReportResource is the signed reports of erasing.
type eraseReportResource struct{ access }

// routes serves erase reports to callers that may read them, and the key that verifies them.
func (h *eraseReportResource) routes() []rest.Route {
	const root = nodeapi.FerriteRoot
	return []rest.Route{
		{Method: http.MethodGet, Path: root + "/nodes/:node/erase-reports",
			Doc:    "erases of a machine, the oldest first; also of a deleted node, by its UUID",
			Handle: h.listEraseReports, Wire: rest.Returns(rest.FormOf(nodeapi.EraseReports{}))},
		{Method: http.MethodGet, Path: root + "/erase-reports",
			Doc:    "erases of all machines, the oldest first; also of deleted nodes",
			Handle: h.listAllEraseReports, Wire: rest.Returns(rest.FormOf(nodeapi.EraseReports{}), eraseReportArgs()...)},
		{Method: http.MethodGet, Path: root + "/erase-reports/:report",
			Doc: "one erase: its disks, methods and verification; signed", Handle: h.showEraseReport,
			Wire: rest.Returns(rest.FormOf(nodeapi.EraseReport{}))},
		{Method: http.MethodGet, Path: root + "/erase-key", Doc: "the public key to check erase reports with",
			Handle: h.showEraseKey, Wire: rest.Returns(rest.FormOf(nodeapi.EraseKey{}))},
	}
}

// listEraseReports answers for a deleted node only callers without a project: its owner is no longer known.
func (h *eraseReportResource) listEraseReports(c *rest.Call) error {
	n, missing := h.node(c)
	if isNotFound(missing) && c.Project() == "" && rest.ValidUUID(c.Param("node")) &&
		(c.Caller == nil || c.Rule.Allows(c.Caller, "", "")) { // a policy file may hide a node that is there
		n.UUID = strings.ToLower(c.Param("node"))
	} else if missing != nil {
		return missing
	}
	answer := nodeapi.EraseReports{EraseReports: []nodeapi.EraseSummary{}}
	for s, err := range h.summaries(c, node.EraseReportQuery{NodeUUID: n.UUID}) {
		if err != nil {
			return err
		}
		answer.EraseReports = append(answer.EraseReports, *s)
	}
	if missing != nil && len(answer.EraseReports) == 0 {
		return missing
	}
	return c.Marshal(http.StatusOK, answer)
}

// summary counts the disks of a report by outcome.
func summary(r node.EraseReport) (s nodeapi.EraseSummary, err error) {
	signed, err := nodeapi.ReportOf(r.Payload, r.Signature)
	if err != nil {
		return s, fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	var report agentapi.EraseReport
	if err := json.Unmarshal(signed.Report, &report); err != nil {
		return s, fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	s = nodeapi.EraseSummary{UUID: signed.UUID, NodeUUID: signed.NodeUUID, NodeName: signed.NodeName,
		Failed: signed.Failed, SignedAt: signed.SignedAt, KeyID: signed.KeyID}
	for _, d := range report.Disks {
		switch {
		case d.Error != "":
			s.Errors++
		case d.Skipped != "":
			s.Skipped++
		default:
			s.Erased++
		}
	}
	return s, nil
}

func (h *eraseReportResource) showEraseReport(c *rest.Call) error {
	ref := strings.ToLower(c.Param("report"))
	missing := nodeapi.NewFault(http.StatusNotFound, "Erase report %s could not be found.", ref)
	r, err := h.conductor.EraseReport(c.Request().Context(), ref)
	if isNotFound(err) {
		return missing
	}
	if err != nil {
		return err
	}
	if err := h.permitEraseReport(c, r.NodeUUID, missing); err != nil {
		return err
	}
	signed, err := nodeapi.ReportOf(r.Payload, r.Signature)
	if err != nil {
		return fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	return c.Marshal(http.StatusOK, signed)
}

// permitEraseReport checks access as for the node. Callers with a project get no report of a deleted node.
func (h *eraseReportResource) permitEraseReport(c *rest.Call, nodeUUID string, missing error) error {
	n, err := h.conductor.Node(c.Request().Context(), nodeUUID)
	switch {
	case isNotFound(err) && c.Project() != "":
		return missing
	case err != nil && !isNotFound(err):
		return err
	}
	return h.permit(c, c.Rule, &n, missing)
}

func (h *eraseReportResource) showEraseKey(c *rest.Call) error {
	key, err := nodeapi.EraseKeyOf(h.conductor.ErasePublicKey())
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, key)
}
