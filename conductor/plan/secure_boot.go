package plan

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// NetworkDevice reports whether a boot device is the network, from which this conductor serves an unsigned iPXE.
func NetworkDevice(device string) bool { return device == "pxe" || device == "uefihttp" }

// BootsUnsigned reports whether a boot device of n leads to a boot loader of this conductor's.
func BootsUnsigned(n node.Node, a BootDeviceArgs) bool {
	return NetworkDevice(a.Device) ||
		a.Device == mediumDevice && BootsByMedium(n) && (!a.Persistent || MediumOf(n) == MediumRamdisk)
}

// CheckSecureBoot refuses to boot a machine from the network if its firmware starts only signed code. It would show
// "Security Violation" on its console, and the conductor would wait until the timeout. With BIOS there is no secure
// boot, even if the BMC says so. A medium of the site's own may be signed.
func CheckSecureBoot(n node.Node, on *bool) error {
	if on == nil || !*on || BootModeOf(n) == "bios" || n.Interfaces["boot"] == "fake" || AgentISO(n) != "" {
		return nil
	}
	return node.Refuse(node.Invalid,
		"node %s cannot boot the ramdisk: its BMC says that secure boot is on, and this conductor's boot chain "+
			"(iPXE, or GRUB "+
			"on boot media) is not signed; "+
			"turn secure boot off: PUT /v1/nodes/%s/states/secure_boot with {\"target\": false}", n.UUID, n.UUID)
}

// secureBootUnasked refuses an instance that is to run under secure boot: its
// ramdisk could not be booted, and nothing here turns it on in between.
func secureBootUnasked(n node.Node) error {
	if !strings.EqualFold(wantedCapability(n, "secure_boot"), "true") || n.Interfaces["boot"] == "fake" {
		return nil
	}
	return node.Refuse(node.Invalid,
		"node %s cannot be deployed: the capability secure_boot is true (bootMode UEFISecureBoot of a host), and this "+
			"conductor's boot chain (iPXE) is not signed; "+
			"take the capability out of instance_info and properties, or set bootMode to UEFI", n.UUID)
}
