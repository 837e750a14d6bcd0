package plan

import (
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Where driver_internal_info has words of the BMC about the boot mode.
const (
	// inspectedBootMode is the mode that an inspection by the BMC has made a capability.
	inspectedBootMode = "inspected_boot_mode"
	// refutedBootMode is a mode that the BMC reports, and that an agent has found to be wrong.
	refutedBootMode = "refuted_boot_mode"
)

// BootedBy corrects the boot mode of n by the report of an agent on the machine, which knows it. Some BMCs report the
// other mode after a change outside the BMC, or always. It reports whether anything changed. A mode that the operator
// requested stays requested.
func BootedBy(n *node.Node, mode string) bool {
	was := n.BootMode
	if mode != "uefi" && mode != "bios" || mode == was {
		return false
	}
	n.BootMode = mode
	if was == "" {
		return true
	}
	internal := maps.Clone(n.DriverInternalInfo)
	if internal == nil {
		internal = map[string]any{}
	}
	internal[refutedBootMode] = was
	if caps := capability(n.Properties, "boot_mode"); caps == was && internal[inspectedBootMode] == was {
		n.Properties = maps.Clone(n.Properties)
		n.Properties["capabilities"] = node.SetCapability(capabilityLine(n.Properties), "boot_mode", mode)
		internal[inspectedBootMode] = mode
	}
	n.DriverInternalInfo = internal
	aimSteps(n)
	return true
}

// aimSteps gives the steps to come that make the installed system boot its mode.
func aimSteps(n *node.Node) {
	if n.Run == nil {
		return
	}
	n.Run.Steps = slices.Clone(n.Run.Steps)
	for i := n.Run.Index; i < len(n.Run.Steps); i++ {
		s := &n.Run.Steps[i]
		if _, has := s.Args["target_boot_mode"]; own(*s) && has {
			s.Args = maps.Clone(s.Args)
			s.Args["target_boot_mode"] = BootModeOf(*n)
		}
	}
}

// believed is the boot mode that a BMC reports, "" where an agent has refuted it.
func believed(n node.Node, mode string) string {
	if mode == text(n.DriverInternalInfo, refutedBootMode) {
		return ""
	}
	return mode
}

// bootModeIs records a mode that is known to be right.
func (d *decision) bootModeIs(mode string) {
	d.n.BootMode = mode
	delete(d.n.DriverInternalInfo, refutedBootMode)
	d.dirty = true
}
