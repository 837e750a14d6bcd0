package plan

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// grubRefused says what to do where ironic-python-agent was not allowed to make
// a partition image bootable. Since CVE-2026-43003 it copies the image's EFI files
// only in the course of its grub-install, so that it needs leave for both; its
// error names an option of its own that no operator of ours has.
func grubRefused(s node.Step, why string) string {
	if s.String() != installBootloader || !strings.Contains(why, "CONF.enable_bios_bootloader_install") {
		return ""
	}
	return " This agent needs it for EFI files of partition images too: start the conductor with " +
		"--enable-bios-bootloader-install," +
		" which lets images run their own grub-install as root in the ramdisk, or deploy an image of a whole disk, or boot " +
		"Ferrite's ramdisk"
}
