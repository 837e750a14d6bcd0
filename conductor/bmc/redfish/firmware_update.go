package redfish

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// firmwareSetting is one update that an operator wants.
type firmwareSetting struct {
	Component string `json:"component"` // bios, bmc or nic:ID
	URL       string `json:"url"`
	Wait      int    `json:"wait"` // seconds after the update before anything else is done
}

func (f firmwareSetting) check() error {
	if f.Component != "bios" && f.Component != "bmc" && !strings.HasPrefix(f.Component, "nic:") {
		return broken("the component %q is not known: choose from bios, bmc and nic: with the card's id", f.Component)
	}
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return broken("the url of the component %s must be one of http or https that the BMC can reach", f.Component)
	}
	if f.Wait < 0 {
		return broken("the wait of the component %s is %d: it must be at least 1, in seconds", f.Component, f.Wait)
	}
	return nil
}

// updateFirmware does firmware.update: one update after the other, each by SimpleUpdate, followed to the end of its
// task. An image names its own target, so the request has no Targets; Ironic sends none either.
func updateFirmware(r *stepCall) (node.StepReport, error) {
	var a struct {
		Settings []firmwareSetting `json:"settings"`
	}
	if err := r.arguments(&a); err != nil {
		return node.StepReport{}, err
	}
	if len(a.Settings) == 0 {
		return node.StepReport{}, broken("settings is empty: name at least one update")
	}
	for _, f := range a.Settings {
		if err := f.check(); err != nil {
			return node.StepReport{}, err
		}
	}
	if r.memory.Item >= len(a.Settings) {
		return done("%s", strings.Join(r.memory.Said, "; "))
	}
	f := a.Settings[r.memory.Item]
	switch r.memory.Stage {
	case "", "next":
		return r.prepareUpdate(f)
	case "ask":
		return r.askUpdate(f)
	case "follow":
		return r.followUpdate(f)
	default:
		return r.settleUpdate(f, len(a.Settings))
	}
}

// simpleUpdate is the request for an update, as the BMC's service takes it.
func (r *stepCall) simpleUpdate(f firmwareSetting) (request, error) {
	top, err := r.root()
	if err != nil {
		return request{}, err
	}
	if top.UpdateService.Path == "" {
		return request{}, broken("the BMC offers no update service: update its firmware by hand, or leave the step out")
	}
	var service struct {
		Actions struct {
			Simple struct {
				Target string   `json:"target"`
				OneOf  []string `json:"TransferProtocol@Redfish.AllowableValues"`
			} `json:"#UpdateService.SimpleUpdate"`
		}
	}
	if _, err := r.get(top.UpdateService.Path, &service); err != nil {
		return request{}, err
	}
	simple := service.Actions.Simple
	scheme, _, _ := strings.Cut(f.URL, ":")
	protocol := strings.ToUpper(scheme)
	if simple.Target == "" || len(simple.OneOf) > 0 && !slices.Contains(simple.OneOf, protocol) {
		return request{}, broken("the BMC cannot fetch firmware by %s: it takes %v, serve the image by one of those",
			protocol, simple.OneOf)
	}
	return request{
		method: http.MethodPost, path: simple.Target, name: "update " + f.Component,
		body: map[string]any{"ImageURI": f.URL, "TransferProtocol": protocol},
		same: func(body map[string]any) bool { return body["ImageURI"] == f.URL },
	}, nil
}

// ownTasks are the tasks that a request may have become.
func (r *stepCall) ownTasks(q request) ([]bmcTask, error) {
	tasks, err := r.tasksBut(r.memory.Known)
	return slices.DeleteFunc(tasks, func(t bmcTask) bool { same, known := t.asks(q); return known && !same }), err
}

// prepareUpdate remembers the state before the update. If an earlier step began an update and was lost, this step
// follows it.
func (r *stepCall) prepareUpdate(f firmwareSetting) (node.StepReport, error) {
	q, err := r.simpleUpdate(f)
	if err != nil {
		return node.StepReport{}, err
	}
	r.memory.Known, r.memory.Task = nil, ""
	tasks, err := r.ownTasks(q)
	if err != nil {
		return node.StepReport{}, err
	}
	tasks = slices.DeleteFunc(tasks, bmcTask.over)
	if r.memory.Known, err = r.taskPathsBut(tasks); err != nil {
		return node.StepReport{}, err
	}
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	r.memory.Was = map[string]string{f.Component: version}
	return r.begin("ask", "begins to update "+f.Component)
}

// askUpdate asks for the update unless there is a task that only an earlier
// asking can have made.
func (r *stepCall) askUpdate(f firmwareSetting) (node.StepReport, error) {
	q, err := r.simpleUpdate(f)
	if err != nil {
		return node.StepReport{}, err
	}
	tasks, err := r.ownTasks(q)
	if err != nil {
		return node.StepReport{}, err
	}
	if len(tasks) > 0 {
		r.memory.Task = tasks[len(tasks)-1].path
	} else if r.memory.Task, err = r.ask(q.method, q.path, q.body); err != nil {
		return node.StepReport{}, fmt.Errorf("%s: %w", q.name, err)
	}
	if r.memory.Task == "" { // done at once
		return r.activate(f)
	}
	r.enter("follow")
	return r.wait(fmt.Sprintf("the BMC fetches %s", f.URL))
}

func (r *stepCall) followUpdate(f firmwareSetting) (node.StepReport, error) {
	t, err := r.task(r.memory.Task)
	if status(err) == http.StatusNotFound { // many BMCs forget their tasks when they restart
		return r.forgotten(f)
	}
	if err != nil {
		return node.StepReport{}, err
	}
	switch t.phase() {
	case failed:
		return node.StepReport{}, fmt.Errorf("update %s with %s: %w", f.Component, f.URL, t.failure())
	case succeeded:
		return r.activate(f)
	case halted:
		if (t.TaskState == "Pending" || t.TaskState == "Suspended") && !slices.Contains(r.memory.Starts, t.path) {
			r.memory.Starts = append(r.memory.Starts, t.path)
			return r.reboot("a start of the machine, for which the update of " + f.Component + " waits")
		}
	case working:
	}
	r.progress = 100*r.memory.Item + t.percent()
	return r.watch(fmt.Sprintf("updates %s, task %s: %s", f.Component, t.path, t))
}

// forgotten decides the result of an update with a task that is gone.
func (r *stepCall) forgotten(f firmwareSetting) (node.StepReport, error) {
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	if version == r.memory.Was[f.Component] {
		return node.StepReport{}, broken("the BMC has forgotten its task %s, and the version of %s is still %q: look into "+
			"the BMC's log, and run the step again if the update is missing",
			r.memory.Task, f.Component, version)
	}
	return r.activate(f)
}

// activate has the machine started if its new firmware runs only after a start.
func (r *stepCall) activate(f firmwareSetting) (node.StepReport, error) {
	r.enter("settle")
	if f.Component == "bios" || strings.HasPrefix(f.Component, "nic:") {
		return r.reboot("a start of the machine for the new firmware of " + f.Component)
	}
	return r.wait("the BMC takes its new firmware")
}

// settleUpdate waits for the operator's time, notes the versions and continues with the next update.
func (r *stepCall) settleUpdate(f firmwareSetting, all int) (node.StepReport, error) {
	if left := time.Duration(f.Wait)*time.Second - r.now.Sub(r.memory.Since); left > 0 {
		return r.report(node.StepReport{
			After: left, Note: fmt.Sprintf("waits %d s after the update of %s", f.Wait, f.Component),
		})
	}
	version, err := r.version(f.Component)
	if err != nil {
		return node.StepReport{}, err
	}
	was := r.memory.Was[f.Component]
	r.memory.Said = append(r.memory.Said,
		fmt.Sprintf("%s was %s and is %s", f.Component, cmp.Or(was, "unknown"), cmp.Or(version, "unknown")))
	if r.memory.Item++; r.memory.Item >= all {
		return done("%s", strings.Join(r.memory.Said, "; "))
	}
	r.progress = 100 * r.memory.Item
	return r.begin("next", "continues with the next update")
}

// version is the version that runs now; "" for a component that the BMC does not show.
func (r *stepCall) version(component string) (string, error) {
	switch component {
	case "bios":
		l, err := r.systemLinks()
		if err != nil {
			return "", err
		}
		return r.biosVersion(l.BiosVersion)
	case "bmc":
		m, err := r.manager()
		return m.FirmwareVersion, err
	}
	return "", nil
}
