package redfish

import "github.com/ferrite-metal/ferrite/conductor/node"

// deleteRAID does raid.delete_configuration: every volume of every controller.
func deleteRAID(r *stepCall) (node.StepReport, error) {
	if err := r.arguments(&struct{}{}); err != nil {
		return node.StepReport{}, err
	}
	return r.changeVolumes(func(all []raidController) (raidPlan, error) {
		var p raidPlan
		for _, c := range all {
			for _, v := range c.present {
				p.remove = append(p.remove, c.deletion(v))
			}
		}
		return p, nil
	})
}
