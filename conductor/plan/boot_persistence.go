package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// aimAt is the step with which a run sets the boot device of a machine: for all boots, or the next alone.
// driver_info/force_persistent_boot_device overrides the run, as in Ironic: Always is for BMCs that take a device for
// good only, Never for firmware that loses its order of boot entries by it. An operator's own request is not changed.
func aimAt(n node.Node, device string, persistent bool) node.Step {
	switch node.PersistWord(n.DriverInfo["force_persistent_boot_device"]) {
	case "Always":
		persistent = true
	case "Never":
		persistent = false
	}
	return step("management", "set_boot_device", map[string]any{"device": device, "persistent": persistent})
}
