package node

import (
	"maps"
	"slices"
)

// Clone returns a copy of n that shares nothing a decision changes: the run,
// its steps and the top level of every map.
func (n Node) Clone() Node {
	n.Interfaces = maps.Clone(n.Interfaces)
	for _, m := range []*map[string]any{
		&n.DriverInfo, &n.DriverInternalInfo, &n.Properties, &n.InstanceInfo,
		&n.Extra, &n.NetworkData, &n.RAIDConfig, &n.TargetRAIDConfig,
	} {
		*m = maps.Clone(*m)
	}
	n.Traits = slices.Clone(n.Traits)
	if n.Run != nil {
		r := *n.Run
		r.Steps = slices.Clone(r.Steps)
		n.Run = &r
	}
	return n
}

// Name of the step as people write it: interface.step.
func (s Step) String() string { return s.Interface + "." + s.Step }
