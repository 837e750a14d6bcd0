package redfish

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// clearJobQueue does management.clear_job_queue. Only Dell's BMCs have one.
func clearJobQueue(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	m, err := r.manager()
	if err != nil {
		return node.StepReport{}, err
	}
	if m.Links.Oem.Dell.DellJobService.Path == "" {
		return node.StepReport{}, broken("the BMC has no job queue: it is none of Dell's, or too old; leave the step out")
	}
	var service struct {
		Actions struct {
			Delete struct {
				Target string `json:"target"`
			} `json:"#DellJobService.DeleteJobQueue"`
		}
	}
	if _, err := r.get(m.Links.Oem.Dell.DellJobService.Path, &service); err != nil {
		return node.StepReport{}, err
	}
	if _, err := r.ask(http.MethodPost, service.Actions.Delete.Target,
		map[string]any{"JobID": "JID_CLEARALL"}); err != nil {
		return node.StepReport{}, err
	}
	return done("the job queue is empty")
}

// knownGoodState does management.known_good_state, Ironic's for iDRAC: a reset of the BMC, and an empty job queue.
func knownGoodState(r *stepCall) (node.StepReport, error) {
	if r.memory.Stage == "clear" {
		return clearJobQueue(r)
	}
	report, err := resetBMC(r)
	if err != nil || !report.Done {
		return report, err
	}
	return r.begin("clear", report.Note+"; clears its job queue")
}
