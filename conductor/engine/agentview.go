package engine

import (
	"maps"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// agentView is the node as commands carry it: the fields an agent reads, in
// Ironic's names, without secrets.
func agentView(n node.Node) map[string]any {
	return map[string]any{
		"uuid": n.UUID, "name": n.Name, "driver": n.Driver,
		"provision_state":        string(n.ProvisionState),
		"target_provision_state": string(n.TargetProvisionState),
		"properties":             orEmpty(n.Properties),
		"driver_info":            nodeapi.Mask(orEmpty(n.DriverInfo)),
		"driver_internal_info":   nodeapi.Mask(orEmpty(n.DriverInternalInfo)),
		"instance_info":          hide(n.InstanceInfo, "configdrive"),
		"extra":                  orEmpty(n.Extra),
		"raid_config":            orEmpty(n.RAIDConfig),
		"target_raid_config":     orEmpty(n.TargetRAIDConfig),
	}
}

// lookupView is the part of the node a lookup shows.
func lookupView(n node.Node) agentapi.LookupNode {
	return agentapi.LookupNode{
		UUID: n.UUID, Properties: orEmpty(n.Properties),
		InstanceInfo:       hide(n.InstanceInfo, "configdrive"),
		DriverInternalInfo: orEmpty(n.DriverInternalInfo),
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// hide masks the value of one key.
func hide(m map[string]any, key string) map[string]any {
	if _, ok := m[key]; !ok {
		return orEmpty(m)
	}
	m = maps.Clone(m)
	m[key] = agentapi.MaskedToken
	return m
}
