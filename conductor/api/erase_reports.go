package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// eraseReportRoutes is the proof of what was erased, for those who may read of
// the node, and what to check it with.
func (a *API) eraseReportRoutes() []route {
	const root = nodeapi.FerriteRoot
	return []route{
		{method: http.MethodGet, path: root + "/nodes/:node/erase-reports", doc: "what was erased of a machine, the oldest first; also of a node that is no more, by its UUID", handle: a.listEraseReports, wire: gives(formOf(nodeapi.EraseReports{}))},
		{method: http.MethodGet, path: root + "/erase-reports/:report", doc: "what was erased, how, and how that was verified; signed", handle: a.showEraseReport, wire: gives(formOf(nodeapi.EraseReport{}))},
		{method: http.MethodGet, path: root + "/erase-key", doc: "the public key to check erase reports with", handle: a.showEraseKey, wire: gives(formOf(nodeapi.EraseKey{}))},
	}
}

// listEraseReports answers for a node that is no more whom no project confines:
// nobody can tell any longer whose it was.
func (a *API) listEraseReports(c *call) error {
	n, err := a.node(c)
	if isNotFound(err) && c.project() == "" && validUUID(c.Param("node")) {
		n.UUID = strings.ToLower(c.Param("node"))
	} else if err != nil {
		return err
	}
	reports, err := a.conductor.EraseReports(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := nodeapi.EraseReports{EraseReports: make([]nodeapi.EraseSummary, len(reports))}
	for i, r := range reports {
		if answer.EraseReports[i], err = summary(r); err != nil {
			return err
		}
	}
	return c.marshal(http.StatusOK, answer)
}

// summary counts the disks of a report by what became of them.
func summary(r node.EraseReport) (s nodeapi.EraseSummary, err error) {
	signed, err := nodeapi.ReportOf(r.Payload, r.Signature)
	if err != nil {
		return s, fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	var report agentapi.EraseReport
	if err := json.Unmarshal(signed.Report, &report); err != nil {
		return s, fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	s = nodeapi.EraseSummary{UUID: signed.UUID, NodeUUID: signed.NodeUUID, NodeName: signed.NodeName, Failed: signed.Failed, SignedAt: signed.SignedAt, KeyID: signed.KeyID}
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

func (a *API) showEraseReport(c *call) error {
	ref := strings.ToLower(c.Param("report"))
	missing := nodeapi.NewFault(http.StatusNotFound, "Erase report %s could not be found.", ref)
	r, err := a.conductor.EraseReport(c.Request().Context(), ref)
	if isNotFound(err) {
		return missing
	}
	if err != nil {
		return err
	}
	if err := a.permitEraseReport(c, r.NodeUUID, missing); err != nil {
		return err
	}
	signed, err := nodeapi.ReportOf(r.Payload, r.Signature)
	if err != nil {
		return fmt.Errorf("erase report %s: %w", r.UUID, err)
	}
	return c.marshal(http.StatusOK, signed)
}

// permitEraseReport asks as for the node. Reports of one that is no more are not
// for projects.
func (a *API) permitEraseReport(c *call, nodeUUID string, missing error) error {
	n, err := a.conductor.Node(c.Request().Context(), nodeUUID)
	switch {
	case isNotFound(err) && c.project() != "":
		return missing
	case err != nil && !isNotFound(err):
		return err
	}
	return a.permit(c, c.rule, &n, missing)
}

func (a *API) showEraseKey(c *call) error {
	key, err := nodeapi.EraseKeyOf(a.conductor.ErasePublicKey())
	if err != nil {
		return err
	}
	return c.marshal(http.StatusOK, key)
}
