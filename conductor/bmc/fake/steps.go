package fake

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Steps are those of Ironic's fake-hardware: all by request, all done at once.
func (d *Driver) Steps(node.Node) []node.StepOffer {
	byRequest := map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0, node.ServiceSteps: 0}
	settings := func(what string) map[string]node.StepArg {
		return map[string]node.StepArg{"settings": {Description: what, Required: true}}
	}
	return []node.StepOffer{
		{Interface: "bios", Step: "apply_configuration", Priority: byRequest, NeedsNoRamdisk: true, Args: settings("a list of BIOS settings, each with name and value")},
		{Interface: "bios", Step: "factory_reset", Priority: byRequest, NeedsNoRamdisk: true},
		{Interface: "firmware", Step: "update", Priority: byRequest, NeedsNoRamdisk: true, Args: settings("a list of updates, each with component and url")},
	}
}

// DoStep does nothing, as quickly and as badly as the script has it.
func (d *Driver) DoStep(ctx context.Context, n node.Node, _ node.Step, _ string) (node.StepReport, error) {
	err := d.call(ctx, "DoStep", n, func(*machine) {})
	return node.StepReport{Done: err == nil}, err
}
