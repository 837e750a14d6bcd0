package plan

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// BootModes are the boot modes of machines, in Ironic's words.
func BootModes() []string { return []string{"bios", "uefi"} }

// bootModeAllowed refuses a deploy of a system that would boot in a disallowed mode (Ironic's
// [conductor]disallowed_deployment_boot_modes).
func bootModeAllowed(d *decision, _ Request) error {
	mode := strings.ToLower(BootModeOf(d.n))
	if !slices.Contains(d.f.Settings.NoDeployModes, mode) {
		return nil
	}
	return node.Refuse(node.Invalid, "node %s would boot its system in boot mode %s, which this conductor disallows "+
		"(--disallowed-deployment-boot-modes): set the capability boot_mode to another", d.n.UUID, mode)
}

// CheckEnrolledMode refuses a new or edited node with a disallowed boot mode among its capabilities (Ironic's
// [api]disallowed_enrollment_boot_modes). A node with that mode from before can still be edited.
func CheckEnrolledMode(old, n node.Node, s Settings) error {
	mode := capability(n.Properties, "boot_mode")
	if mode == capability(old.Properties, "boot_mode") || !slices.Contains(s.NoEnrollModes, strings.ToLower(mode)) {
		return nil
	}
	return node.Refuse(node.Invalid, "properties/capabilities: boot_mode is %s, which this conductor disallows "+
		"(--disallowed-enrollment-boot-modes): name another, or none", mode)
}
