package translate

import (
	"cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// BootMode is how the document wants the firmware to start.
func BootMode(spec hostapi.HostSpec) hostapi.BootMode { return cmp.Or(spec.BootMode, hostapi.UEFI) }

// capabilities sets the boot mode in a node's capabilities; all others stay.
func capabilities(caps string, mode hostapi.BootMode) string {
	if mode == hostapi.Legacy {
		return node.UnsetCapability(node.SetCapability(caps, "boot_mode", "bios"), "secure_boot")
	}
	caps = node.SetCapability(caps, "boot_mode", "uefi")
	if mode == hostapi.UEFISecureBoot {
		return node.SetCapability(caps, "secure_boot", "true")
	}
	return node.UnsetCapability(caps, "secure_boot")
}

// instanceCapabilities are the capabilities that an instance requires.
func instanceCapabilities(mode hostapi.BootMode) map[string]any {
	if mode == hostapi.UEFISecureBoot {
		return map[string]any{"secure_boot": "true"}
	}
	return map[string]any{}
}
