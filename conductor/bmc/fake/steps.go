package fake

import (
	"context"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Steps are the same as in Ironic's fake-hardware: all by request, all done at once.
func (d *Driver) Steps(node.Node) []node.StepOffer {
	byRequest := map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0, node.ServiceSteps: 0}
	settings := func(what string) map[string]node.StepArg {
		return map[string]node.StepArg{"settings": {Description: what, Required: true}}
	}
	return []node.StepOffer{
		{Interface: "bios", Step: "apply_configuration", Priority: byRequest, NeedsNoRamdisk: true,
			Args: settings("a list of BIOS settings, each with name and value")},
		{Interface: "bios", Step: "factory_reset", Priority: byRequest, NeedsNoRamdisk: true},
		{Interface: "firmware", Step: "update", Priority: byRequest, NeedsNoRamdisk: true,
			Args: settings("a list of updates, each with component and url")},
	}
}

// DoStep changes nothing; the script sets its duration and its failures. It reports the BIOS settings of the step's
// arguments, and none after a reset.
func (d *Driver) DoStep(ctx context.Context, n node.Node, s node.Step, _ string) (node.StepReport, error) {
	report, err := settings(s)
	if err != nil {
		return node.StepReport{}, err
	}
	if err := d.call(ctx, "DoStep", n, func(*machine) {}); err != nil {
		return node.StepReport{}, err
	}
	return node.StepReport{Done: true, HardwareReport: report}, nil
}

// settings are the BIOS settings after a step; nil for a step that leaves them alone. A value that cannot be right is
// refused, as a real BMC's driver does.
func settings(s node.Step) (*node.HardwareReport, error) {
	report := &node.HardwareReport{BIOS: []node.BIOSSetting{}}
	switch s.String() {
	case "bios.factory_reset":
		return report, nil
	case "bios.apply_configuration":
	case "firmware.update":
		report = nil
	default:
		return nil, nil
	}
	list, ok := s.Args["settings"].([]any)
	if !ok {
		return nil, node.Refuse(node.Invalid, "settings of step %s: expected a list, found %v", s, s.Args["settings"])
	}
	for _, item := range list {
		wanted, _ := item.(map[string]any)
		name, _ := wanted["name"].(string)
		component, _ := wanted["component"].(string)
		switch {
		case report == nil && (component == "" || wanted["url"] == nil):
			return nil, node.Refuse(node.Invalid, "settings of step %s: %v is no object with a component and a url", s, item)
		case report == nil:
			continue
		case name == "":
			return nil, node.Refuse(node.Invalid, "settings of step %s: %v is no object with a name and a value", s, item)
		}
		report.BIOS = append(report.BIOS, node.BIOSSetting{Name: name, Value: node.SettingValue(wanted["value"])})
	}
	return report, nil
}
