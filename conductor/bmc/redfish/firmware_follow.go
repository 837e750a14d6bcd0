package redfish

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// FirmwareTimes are the times of an update; zero fields mean the defaults, which are Ironic's.
type FirmwareTimes struct {
	Start   time.Duration // a task may stay New or Starting before the machine is started for it, 30 s
	Version time.Duration // a BMC may take to show a new version, 5 min
	Settle  time.Duration // a BMC may take to answer steadily after an update of its own, 8 min
	Between time.Duration // between two looks at a BMC that settles, 10 s
}

func (t *FirmwareTimes) complete() {
	for _, f := range []struct {
		is        *time.Duration
		otherwise time.Duration
	}{{&t.Start, 30 * time.Second}, {&t.Version, 5 * time.Minute}, {&t.Settle, 8 * time.Minute},
		{&t.Between, 10 * time.Second}} {
		if *f.is == 0 {
			*f.is = f.otherwise
		}
	}
}

// byStart reports a component with firmware that runs after the next start of the machine.
func (f firmwareSetting) byStart() bool {
	return f.Component == "bios" || strings.HasPrefix(f.Component, "nic:")
}

// followUpdate follows the BMC's task to its end.
func (r *stepCall) followUpdate(f firmwareSetting) (node.StepReport, error) {
	t, err := r.task(r.memory.Task)
	if status(err) == http.StatusNotFound { // many BMCs forget their tasks when they restart
		return r.forgotten(f)
	}
	if err != nil {
		return node.StepReport{}, err
	}
	r.progress = 100*r.memory.Item + t.percent()
	note := fmt.Sprintf("updates %s, task %s: %s", f.Component, t.path, t)
	switch t.phase() {
	case failed:
		return node.StepReport{}, fmt.Errorf("update %s with %s: %w", f.Component, f.URL, t.failure())
	case succeeded:
		return r.activate(f)
	case halted, working:
		if r.wantsStart(f, t, note) && r.startOnce(t.path+" "+string(t.TaskState)) {
			return r.reboot(fmt.Sprintf("a start of the machine, for which the update of %s waits: its task is %s", f.Component,
				t.TaskState))
		}
	}
	return r.watch(note)
}

// wantsStart reports a task that waits for a start of the machine. Some network cards leave their task New or Starting
// until then, and others get on by themselves: these are given a while (Ironic, firmware_update_nic_starting_wait).
func (r *stepCall) wantsStart(f firmwareSetting, t bmcTask, note string) bool {
	switch t.TaskState {
	case schemas.PendingTaskState, schemas.SuspendedTaskState:
		return true
	case schemas.NewTaskState, schemas.StartingTaskState:
		return f.byStart() && note == r.memory.Seen && r.now.Sub(r.memory.Since) >= r.firmware.Start
	default:
		return false
	}
}

// startOnce reports whether the machine was not started yet for a reason, and remembers that it is now.
func (r *stepCall) startOnce(reason string) bool {
	if slices.Contains(r.memory.Starts, reason) {
		return false
	}
	r.memory.Starts = append(r.memory.Starts, reason)
	return true
}

// started reports whether the machine was started for the followed task.
func (r *stepCall) started() bool {
	return slices.ContainsFunc(r.memory.Starts, func(s string) bool { return strings.HasPrefix(s, r.memory.Task+" ") })
}

// forgotten decides how to find out the result of an update without a task. The version decides where it has
// changed. Dell's Lifecycle Controller has a list of jobs of its own. Other BMCs may have staged the image: the machine
// is started, and the versions are compared.
func (r *stepCall) forgotten(f firmwareSetting) (node.StepReport, error) {
	r.memory.Lost = true
	if !f.byStart() { // a BMC that restarts with its new firmware
		r.enter("settle")
		return r.wait("the BMC has forgotten its task: waits until it settles")
	}
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	if version != "" && version != r.memory.Was[f.Component] {
		r.enter("settle")
		return r.wait("the BMC has forgotten its task, and runs the new firmware of " + f.Component)
	}
	id := path.Base(r.memory.Task)
	job, known, err := r.dellJob(id)
	switch {
	case err != nil:
		return node.StepReport{}, err
	case known && job.failed():
		return node.StepReport{}, broken("update %s with %s: the Lifecycle Controller's job %s is %s: %s", f.Component, f.URL,
			id, job.JobState, quote([]string{job.Message}))
	case known && job.JobState == "" && !r.started():
		return node.StepReport{}, broken("update %s with %s: the BMC has forgotten its task%s, and the Lifecycle Controller "+
			"has no job %s: the image was not fetched or not accepted; look into the Lifecycle log", f.Component, f.URL,
			r.interruption(), id)
	case known && job.waits() && r.started():
		return r.watch(fmt.Sprintf("the Lifecycle Controller's job %s is %s", id, job.JobState))
	case known && job.waits():
		r.startOnce(r.memory.Task + " job")
		return r.reboot(fmt.Sprintf("a start of the machine for the Lifecycle Controller's job %s, which is %s", id,
			job.JobState))
	}
	r.enter("compare")
	if r.started() {
		return r.wait("the BMC has forgotten its task: compares the versions of " + f.Component)
	}
	r.startOnce(r.memory.Task + " forgotten")
	return r.reboot("a start of the machine: the BMC has forgotten the task, and may have staged the new firmware of " +
		f.Component)
}

// compareVersions gives the BMC time to show the new version after a start.
func (r *stepCall) compareVersions(f firmwareSetting) (node.StepReport, error) {
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	if version != "" && version != r.memory.Was[f.Component] {
		r.enter("settle")
		return r.wait("the BMC shows the new version of " + f.Component)
	}
	if r.now.Sub(r.memory.Since) > r.firmware.Version {
		return node.StepReport{}, r.resultUnknown(f, version)
	}
	return r.wait(fmt.Sprintf("waits until the BMC shows the new version of %s", f.Component))
}

// resultUnknown is the error of an update with a task that is gone, and no new version.
func (r *stepCall) resultUnknown(f firmwareSetting, version string) error {
	if version == "" {
		return broken("the BMC has forgotten its task %s%s, and shows no version of %s: look into its log, and run the step "+
			"again if the update is missing", r.memory.Task, r.interruption(), f.Component)
	}
	return broken("the BMC has forgotten its task %s%s, and the version of %s is still %q: look into the BMC's log, and "+
		"run the step again if the update is missing", r.memory.Task, r.interruption(), f.Component, version)
}

// lastReset is the key in memory of the time at which the BMC itself was started last.
const lastReset = "LastResetTime"

// lastRestart is when the BMC itself was started last; "" where it does not show that.
func (r *stepCall) lastRestart() (string, error) {
	m, err := r.manager()
	if err != nil {
		return "", r.optional("time of the BMC's last restart", err)
	}
	return m.LastResetTime, nil
}

// interruption names the restart of the BMC that has cost a task; "" for none.
func (r *stepCall) interruption() string {
	if at, err := r.lastRestart(); err == nil && at != r.memory.Was[lastReset] {
		return " (it restarted in the middle of the update, at " + quote([]string{at}) + ")"
	}
	return ""
}

// activate has the machine started if its new firmware runs only after a start. A start in the middle of the update
// may have done that: then the new version shows.
func (r *stepCall) activate(f firmwareSetting) (node.StepReport, error) {
	r.enter("settle")
	if !f.byStart() {
		return r.wait("the BMC takes its new firmware")
	}
	if r.started() {
		version, err := r.version(f.Component)
		if err != nil {
			return node.StepReport{}, err
		}
		if version != "" && version != r.memory.Was[f.Component] {
			return r.wait("the new firmware of " + f.Component + " runs")
		}
	}
	return r.reboot("a start of the machine for the new firmware of " + f.Component)
}
