package plan

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// eraseSteps are the steps with an erase report as their result. The results of ironic-python-agent for steps of these
// names are none: an object by device name, or nothing.
var eraseSteps = map[string]bool{"erase_devices": true, "erase_devices_express": true}

// reportsErase reports whether the result of a step may be an erase report.
func reportsErase(s node.Step) bool {
	return s.InBand && s.Interface == "deploy" && eraseSteps[s.Step]
}

// ourManager is by which hardware manager Ferrite's agent is known. It always
// reports.
const ourManager = "ferrite_hardware_manager"

// eraseReported keeps the erase report of a step that succeeded. A report that proves nothing fails the step: without
// proof nothing was erased.
func (d *decision) eraseReported(s node.Step, result json.RawMessage) error {
	report, err := d.eraseReport(s, result)
	switch {
	case err != nil:
		return err
	case report != nil && len(report.Failed()) > 0:
		return fmt.Errorf("erase report: the step %s succeeded, but %s is reported with the error %q", s,
			report.Failed()[0].Device, report.Failed()[0].Error)
	case report == nil && needsReport(d.n.Run):
		return fmt.Errorf("erase report: the step %s succeeded, but its result is no report", s)
	}
	return d.keepReport(report, false)
}

// eraseFailed keeps the report of a step that failed: it lists the disks that are erased, and the disks that are not.
// It returns the text to add to the step's own error.
func (d *decision) eraseFailed(s node.Step, result json.RawMessage) string {
	report, err := d.eraseReport(s, result)
	if err == nil {
		err = d.keepReport(report, true)
	}
	if err != nil {
		return fmt.Sprintf(" (its report was not kept: %v)", err)
	}
	return ""
}

// needsReport reports whether a run is at a step that must bring a report: an erase step of our own agent that is no
// dry run.
func needsReport(r *node.Run) bool {
	s := r.Current()
	if s == nil || !reportsErase(*s) || s.Args["dry_run"] == true {
		return false
	}
	_, ours := r.Versions[ourManager]
	return ours
}

// eraseReport reads the report from a command's result; nil when there is none.
func (d *decision) eraseReport(s node.Step, result json.RawMessage) (*agentapi.EraseReport, error) {
	if !reportsErase(s) {
		return nil, nil
	}
	var r agentapi.StepResult
	if len(result) == 0 || json.Unmarshal(result, &r) != nil {
		return nil, nil
	}
	made := map[string]json.RawMessage{"clean": r.CleanResult, "deploy": r.DeployResult,
		"service": r.ServiceResult}[d.n.Run.Activity]
	if !meantAsReport(made) {
		return nil, nil
	}
	if len(made) > node.MaxEraseReport {
		return nil, fmt.Errorf("erase report: it has %d bytes, at most %d are kept", len(made), node.MaxEraseReport)
	}
	if err := nodeapi.CheckJSON(made); err != nil {
		return nil, fmt.Errorf("erase report: %w", err)
	}
	var report agentapi.EraseReport
	if err := json.Unmarshal(made, &report); err != nil {
		return nil, fmt.Errorf("erase report: %w", err)
	}
	if err := report.Validate(); err != nil {
		return nil, err
	}
	if report.Unfinished != "" {
		return nil, fmt.Errorf("erase report: it says itself that it is none: %s", report.Unfinished)
	}
	if report.NodeUUID != d.n.UUID {
		return nil, fmt.Errorf("erase report: it is of node %s, expected one of %s", report.NodeUUID, d.n.UUID)
	}
	return &report, nil
}

// meantAsReport distinguishes a report, even a bad one, from the answers of other agents.
func meantAsReport(result json.RawMessage) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(result, &keys) != nil {
		return false
	}
	for _, key := range []string{"version", "node_uuid", "disks"} {
		if _, ok := keys[key]; ok {
			return true
		}
	}
	return false
}

// keepReport has a report signed and stored with the decision; nil is none.
func (d *decision) keepReport(report *agentapi.EraseReport, failed bool) error {
	if report == nil {
		return nil
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("erase report: %w", err)
	}
	d.erased = &node.EraseReport{NodeUUID: d.n.UUID, NodeName: d.n.Name, Failed: failed, Report: raw}
	d.dirty = true
	return nil
}
