package redfish

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	case "compare":
		return r.compareVersions(f)
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
	r.memory.Known, r.memory.Task, r.memory.Lost, r.memory.Good = nil, "", false, 0
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
	restarted, err := r.lastRestart()
	if err != nil {
		return node.StepReport{}, err
	}
	r.memory.Was = map[string]string{f.Component: version, lastReset: restarted}
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
