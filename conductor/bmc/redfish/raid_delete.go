package redfish

import "github.com/ferrite-metal/ferrite/conductor/node"

// deleteRAID does raid.delete_configuration: every volume of every controller, and the foreign configurations of
// Dell's.
func deleteRAID(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	if r.memory.Stage == foreignStage {
		return r.clearForeign()
	}
	report, err := r.changeVolumes(func(all []raidController) (raidPlan, error) {
		var p raidPlan
		for _, c := range all {
			for _, v := range c.present {
				p.remove = append(p.remove, c.deletion(v))
			}
		}
		return p, nil
	})
	if err != nil || !report.Done {
		return report, err
	}
	service, err := r.dellRAIDService()
	if err != nil || service == "" {
		return report, err
	}
	if r.memory.Known, err = r.taskPathsBut(nil); err != nil {
		return node.StepReport{}, err
	}
	r.memory.Task, r.memory.Item = "", 0
	return r.begin(foreignStage, "no volumes are left; clears foreign configurations")
}
