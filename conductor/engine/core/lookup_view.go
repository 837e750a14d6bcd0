package core

import (
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// LookupView is the part of the node a lookup shows.
func LookupView(n node.Node) agentapi.LookupNode {
	return agentapi.LookupNode{
		UUID: n.UUID, Name: n.Name, Properties: orEmpty(n.Properties),
		InstanceInfo:       hide(n.InstanceInfo),
		DriverInternalInfo: orEmpty(n.DriverInternalInfo),
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
