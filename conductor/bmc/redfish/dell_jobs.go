package redfish

import (
	"net/http"
	"slices"
	"strings"
)

// dellJob is a job of Dell's Lifecycle Controller: it does the work of a task, and outlives it.
type dellJob struct {
	JobState string // "" for a job that is not there
	Message  string
}

// waits reports a job that is not at its end. Its states are in Dell's DellJob.v1_0_2.
func (j dellJob) waits() bool {
	return slices.Contains([]string{"New", "Downloading", "Downloaded", "Scheduling", "Scheduled", "ReadyForExecution",
		"Waiting", "Running", "Paused", "RebootPending", "RebootCompleted"}, j.JobState)
}

func (j dellJob) failed() bool {
	return strings.HasSuffix(j.JobState, "Failed") || strings.HasSuffix(j.JobState, "Errors")
}

// dellJob reads the job that has a task's name. known is false for another vendor's BMC.
func (r *stepCall) dellJob(id string) (job dellJob, known bool, err error) {
	m, err := r.manager()
	if err != nil {
		return job, false, r.optional("manager", err)
	}
	jobs := m.Links.Oem.Dell.Jobs.Path
	if jobs == "" {
		return job, false, nil
	}
	if _, err := r.get(strings.TrimRight(jobs, "/")+"/"+id, &job); err != nil && status(err) != http.StatusNotFound {
		return job, false, err
	}
	return job, true, nil
}
