package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// creation asks for a volume.
func (v newVolume) creation() request {
	var drives []reference
	var wanted, ids []string
	for _, d := range v.drives {
		drives = append(drives, reference{d.path})
		wanted, ids = append(wanted, d.path), append(ids, d.id)
	}
	body := v.controller.applyTime(map[string]any{
		"RAIDType": v.disk.level.raidType, "Links": map[string]any{"Drives": drives},
	})
	if v.disk.bytes > 0 { // without it, the controller takes all space, less its own needs
		body["CapacityBytes"] = v.disk.bytes
	}
	if v.disk.Name != "" {
		body["Name"] = v.disk.Name
	}
	return request{
		method: http.MethodPost, path: strings.TrimRight(v.controller.volumes, "/"), body: body,
		name: fmt.Sprintf("create %s of %s", v.disk.level.raidType, strings.Join(ids, ", ")),
		same: func(body map[string]any) bool { return sameDrives(wanted, drivesIn(body)) },
	}
}

// drivesIn finds the drives in the body of a creation.
func drivesIn(body map[string]any) []string {
	var found []string
	inner, _ := body["Links"].(map[string]any)
	list, _ := inner["Drives"].([]any)
	for _, d := range list {
		if link, ok := d.(map[string]any); ok {
			found = append(found, fmt.Sprint(link["@odata.id"]))
		}
	}
	return found
}

// requests are the requests to send now. Volumes are removed first: until then, new volumes cannot use their drives.
func (p raidPlan) requests() []request {
	if len(p.remove) > 0 {
		return p.remove
	}
	var all []request
	for _, v := range p.create {
		all = append(all, v.creation())
	}
	return all
}

// planner plans the changes from the present volumes to the wanted ones.
type planner func(all []raidController) (raidPlan, error)

// changeVolumes follows a plan until nothing is left of it. Every call makes the plan anew from the present volumes, so
// a lost answer to an earlier call does no harm. Changes that wait in the BMC's tasks do not show in the volumes; they
// are looked for in the tasks.
func (r *stepCall) changeVolumes(plan planner) (node.StepReport, error) {
	all, err := r.raidControllers()
	if err != nil {
		return node.StepReport{}, err
	}
	p, err := plan(all)
	if err != nil && r.memory.Stage == "" {
		return node.StepReport{}, fmt.Errorf("nothing was changed: %w", err)
	}
	tasks, tasksErr := r.volumeTasks(all)
	if tasksErr != nil {
		return node.StepReport{}, tasksErr
	}
	if r.memory.Stage == "" {
		if len(p.requests()) == 0 && len(tasks) == 0 {
			return asWanted(all)
		}
		if r.memory.Known, err = r.taskPathsBut(tasks); err != nil {
			return node.StepReport{}, err
		}
		return r.begin("change", "begins to change volumes")
	}
	for _, t := range tasks {
		if t.phase() == failed {
			return node.StepReport{}, t.failure()
		}
	}
	tasks = slices.DeleteFunc(tasks, bmcTask.over)
	if err != nil && len(tasks) == 0 {
		return node.StepReport{}, err
	}
	if len(p.requests()) == 0 && len(tasks) == 0 {
		return asWanted(all)
	}
	return r.pursue(p, tasks, slices.ContainsFunc(all, raidController.onReset))
}

// asWanted ends a step, with the present volumes.
func asWanted(all []raidController) (node.StepReport, error) {
	volumes := []node.LogicalDisk{}
	for _, c := range all {
		for _, v := range c.present {
			level, _ := levelOf(func(l raidLevel) bool { return l.raidType == v.raidType })
			volumes = append(volumes, node.LogicalDisk{ID: label(v.id), Name: label(v.name), Controller: label(c.id),
				SizeGB: v.bytes >> 30, RAIDLevel: level.name})
		}
	}
	report, err := done("the volumes are as desired")
	report.Volumes = &volumes
	return report, err
}

// pursue sends the plan's requests that no task works on, and waits.
func (r *stepCall) pursue(p raidPlan, tasks []bmcTask, onReset bool) (node.StepReport, error) {
	var open []string
	asked := false
	for _, q := range p.requests() {
		if slices.ContainsFunc(tasks, func(t bmcTask) bool { same, known := t.asks(q); return same || !known }) {
			continue
		}
		if slices.Contains(r.memory.Asked, q.name) {
			open = append(open, q.name)
			continue
		}
		_, err := r.ask(q.method, q.path, q.body)
		if err != nil && asked {
			break // keep the accepted ones first; the next call repeats this request
		}
		if err != nil {
			return node.StepReport{}, fmt.Errorf("%s: %w", q.name, err)
		}
		asked = true
		r.enter("change")
		r.memory.Asked = append(r.memory.Asked, q.name)
		open = append(open, q.name)
	}
	var fresh []string
	for _, t := range tasks {
		if onReset && t.phase() == halted && !slices.Contains(r.memory.Starts, t.path) {
			fresh = append(fresh, t.path)
		}
	}
	switch {
	case len(fresh) > 0:
		r.memory.Starts = append(r.memory.Starts, fresh...)
		r.enter("change")
		return r.reboot("a start of the machine, at which the controller changes its volumes")
	case r.overdue() && len(tasks) == 0:
		return node.StepReport{}, broken("the BMC was asked to %s %s ago and has not: expected it in the list of volumes, "+
			"found it not done; look into the BMC's log",
			strings.Join(open, ", to "), r.patience)
	}
	note := "the controller changes its volumes"
	for _, t := range tasks {
		note += fmt.Sprintf(", task %s: %s", t.path, t)
	}
	return r.watch(note)
}

// volumeTasks are the BMC's tasks about volumes that this step began: after its
// first call all that were not there before it, at its first call those left
// unfinished by a step that was lost.
func (r *stepCall) volumeTasks(all []raidController) ([]bmcTask, error) {
	tasks, err := r.tasksBut(r.memory.Known)
	return slices.DeleteFunc(tasks, func(t bmcTask) bool {
		return r.memory.Stage == "" && t.over() ||
			!slices.ContainsFunc(all, func(c raidController) bool { return t.about(c.volumes) })
	}), err
}

// about reports whether a task may change a resource below a path.
func (t bmcTask) about(path string) bool {
	return t.Payload == nil || t.Payload.TargetURI == "" || strings.HasPrefix(t.Payload.TargetURI, path)
}

// taskPathsBut lists all tasks there are but some.
func (r *stepCall) taskPathsBut(some []bmcTask) ([]string, error) {
	all, err := r.taskPaths()
	return slices.DeleteFunc(all, func(p string) bool {
		return slices.ContainsFunc(some, func(t bmcTask) bool { return t.path == p })
	}), err
}
