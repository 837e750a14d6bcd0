package redfish

import (
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// raidChoice is which part of a configuration is to be made.
type raidChoice struct {
	Root     *bool `json:"create_root_volume"`
	Others   *bool `json:"create_nonroot_volumes"`
	Existing bool  `json:"delete_existing"`
}

// createRAID does raid.create_configuration, from the node's
// target_raid_config.
func createRAID(r *stepCall) (node.StepReport, error) {
	var a raidChoice
	if err := r.arguments(&a); err != nil {
		return node.StepReport{}, err
	}
	return r.createVolumes(r.node.TargetRAIDConfig, a)
}

// applyRAID does raid.apply_configuration, from its own argument.
func applyRAID(r *stepCall) (node.StepReport, error) {
	var a struct {
		Config map[string]any `json:"raid_config"`
		raidChoice
	}
	if err := r.arguments(&a); err != nil {
		return node.StepReport{}, err
	}
	return r.createVolumes(a.Config, a.raidChoice)
}

func (r *stepCall) createVolumes(config map[string]any, choice raidChoice) (node.StepReport, error) {
	disks, err := logicalDisks(config)
	if err != nil {
		return node.StepReport{}, err
	}
	wants := func(flag *bool) bool { return flag == nil || *flag }
	disks = slices.DeleteFunc(disks, func(d logicalDisk) bool {
		return d.Root && !wants(choice.Root) || !d.Root && !wants(choice.Others)
	})
	return r.changeVolumes(func(all []raidController) (raidPlan, error) { return layOut(all, disks, choice.Existing) })
}
