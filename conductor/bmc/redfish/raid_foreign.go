package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// foreignStage is the part of raid.delete_configuration in which Dell's controllers forget foreign configurations.
const foreignStage = "foreign"

// dellRAIDService is the path of Dell's service for controllers; "" for other BMCs and old ones.
func (r *stepCall) dellRAIDService() (string, error) {
	l, err := r.systemLinks()
	return l.Links.Oem.Dell.DellRaidService.Path, err
}

// clearForeign has one controller after the other forget the volumes of drives that come from other machines: such
// drives cannot be used before (Ironic, drac/raid.py). BOSS cards know no such request.
func (r *stepCall) clearForeign() (node.StepReport, error) {
	all, err := r.raidControllers()
	if err != nil {
		return node.StepReport{}, err
	}
	all = slices.DeleteFunc(all, func(c raidController) bool {
		return strings.Contains(strings.ToUpper(c.id+" "+c.name), "BOSS")
	})
	if r.memory.Item >= len(all) {
		report, err := asWanted(all)
		report.Note = "no volumes and no foreign configurations are left"
		return report, err
	}
	c := all[r.memory.Item]
	if r.memory.Task != "" {
		return r.followForeign(c)
	}
	task, err := r.askForeign(c)
	if err != nil {
		return node.StepReport{}, fmt.Errorf("clear the foreign configuration of %s: %w", label(c.id), err)
	}
	if r.memory.Task = task; task == "" {
		return r.nextForeign("has no foreign configuration", c)
	}
	return r.begin(foreignStage, "clears the foreign configuration of "+label(c.id))
}

// askForeign answers the BMC's task; "" for a controller without a foreign configuration, which Dell refuses.
func (r *stepCall) askForeign(c raidController) (task string, err error) {
	at, err := r.dellRAIDService()
	if err != nil {
		return "", err
	}
	var service struct {
		Actions struct {
			Clear struct {
				Target string `json:"target"`
			} `json:"#DellRaidService.ClearForeignConfig"`
		}
	}
	if _, err := r.get(at, &service); err != nil {
		return "", err
	}
	if service.Actions.Clear.Target == "" { // old firmware
		return "", nil
	}
	q := request{method: http.MethodPost, path: service.Actions.Clear.Target, body: map[string]any{"TargetFQDD": c.id},
		same: func(body map[string]any) bool { return body["TargetFQDD"] == c.id }}
	tasks, err := r.ownTasks(q)
	if err != nil {
		return "", err
	}
	if len(tasks) > 0 { // of a call that was lost
		return tasks[len(tasks)-1].path, nil
	}
	task, err = r.ask(q.method, q.path, q.body)
	if status(err) == http.StatusBadRequest && strings.Contains(messageID(err), "STOR018") {
		return "", nil
	}
	return task, err
}

// followForeign follows the task of a controller. It may need a start of the machine.
func (r *stepCall) followForeign(c raidController) (node.StepReport, error) {
	t, err := r.task(r.memory.Task)
	switch {
	case status(err) == http.StatusNotFound: // done and forgotten: asked again, the controller has none
		r.memory.Known, r.memory.Task = append(r.memory.Known, r.memory.Task), ""
		return r.begin(foreignStage, "asks "+label(c.id)+" again: the BMC has forgotten the task")
	case err != nil:
		return node.StepReport{}, err
	case t.phase() == failed:
		return node.StepReport{}, t.failure()
	case t.phase() == succeeded:
		return r.nextForeign("has forgotten its foreign configuration", c)
	case t.phase() == halted && r.startOnce(t.path):
		return r.reboot("a start of the machine, at which " + label(c.id) + " forgets its foreign configuration")
	}
	return r.watch(fmt.Sprintf("%s forgets its foreign configuration, task %s: %s", label(c.id), t.path, t))
}

func (r *stepCall) nextForeign(what string, c raidController) (node.StepReport, error) {
	r.memory.Known = append(r.memory.Known, r.memory.Task) // one without a payload could be taken for the next one's
	r.memory.Item, r.memory.Task = r.memory.Item+1, ""
	return r.begin(foreignStage, label(c.id)+" "+what)
}
