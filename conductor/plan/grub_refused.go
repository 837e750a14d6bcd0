package plan

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// grubRefused suggests a remedy if ironic-python-agent was not allowed to make a partition image bootable. Since
// CVE-2026-43003 it copies the image's EFI files only together with its grub-install, so that it needs permission for
// both. Its error names an option of its own that does not exist here.
func grubRefused(s node.Step, why string) string {
	if s.String() != installBootloader || !strings.Contains(why, "CONF.enable_bios_bootloader_install") {
		return ""
	}
	return " This agent needs it for EFI files of partition images too: start the conductor with " +
		"--enable-bios-bootloader-install," +
		" which lets images run their own grub-install as root in the ramdisk, or deploy an image of a whole disk, or boot " +
		"Ferrite's ramdisk"
}
