package core

import (
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// AgentView is the node as commands carry it: the fields an agent reads, in
// Ironic's names, without secrets. How disks are erased comes with it, unless
// the node says otherwise itself.
func AgentView(n node.Node, e plan.Erasing) map[string]any {
	internal := e.ForAgent()
	maps.Copy(internal, n.DriverInternalInfo)
	return map[string]any{
		"uuid": n.UUID, "name": n.Name, "driver": n.Driver,
		"provision_state":        string(n.ProvisionState),
		"target_provision_state": string(n.TargetProvisionState),
		"properties":             orEmpty(n.Properties),
		"driver_info":            nodeapi.Mask(orEmpty(n.DriverInfo)),
		"driver_internal_info":   nodeapi.Mask(internal),
		"instance_info":          hide(n.InstanceInfo),
		"extra":                  orEmpty(n.Extra),
		"raid_config":            orEmpty(n.RAIDConfig),
		"target_raid_config":     orEmpty(n.TargetRAIDConfig),
	}
}

// hide masks the secrets in instance_info. The agent gets some of them another way: with the step or the command, and
// only after it has shown the token. It never gets the others.
func hide(info map[string]any) map[string]any {
	info = orEmpty(maps.Clone(info))
	for _, key := range []string{"configdrive", "hashed_rescue_password", "image_pull_secret"} {
		if _, ok := info[key]; ok {
			info[key] = agentapi.MaskedToken
		}
	}
	return info
}
