//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// TestMeasuredUEFI: a UEFI machine from enroll to its own OS, twice: raw, then qcow2 after an
// undeploy.
func TestMeasuredUEFI(t *testing.T) {
	measured(t, profileLab, testCase{"uefi", 8 * time.Minute, uefiLife})
}

// TestMeasuredFirmware: the same once, with a start of the firmware for each activity and the installed system.
func TestMeasuredFirmware(t *testing.T) {
	measured(t, profileLab, testCase{"firmware", 6 * time.Minute, firmwareLife})
}

// TestMeasuredBIOS: a BIOS machine from enroll to its own OS, then rebuilt with another image.
func TestMeasuredBIOS(t *testing.T) {
	measured(t, profileLab, testCase{"bios", 6 * time.Minute, biosLife})
}

// TestBadImage: cut off, wrong checksum: failed with the reason; a power cut; then a good one from its last mirror.
func TestBadImage(t *testing.T) {
	beside(t, profileLab, testCase{"bad-image", 12 * time.Minute, badImages})
}

// TestBootMedium: a ramdisk out of the virtual drive of a BMC, on a network without DHCP.
func TestBootMedium(t *testing.T) {
	beside(t, profileLab, testCase{"boot-medium", 6 * time.Minute, mediumAlone(qemu.BIOS)})
}

// TestByHand: cleaning by hand: steps of agent, BMC and child nodes with reboots between, an abort, an unknown step.
func TestByHand(t *testing.T) {
	beside(t, profileLab, testCase{"by-hand", 8 * time.Minute, cleanedByHand})
}

// TestFormats: gz from a container registry, compressed qcow2 from a file of the conductor's, zst over
// https; NVMe and SCSI; two NICs, one wired; a ramdisk with a site's authority and step; an RTC of 2001.
func TestFormats(t *testing.T) {
	beside(t, profileLab, testCase{"formats", 12 * time.Minute, formats})
}

// TestHosts: two machines by Metal3's documents: applied from one file, rebooted, detached,
// provisioned anew, taken back, deleted.
func TestHosts(t *testing.T) {
	beside(t, profileLab, testCase{"hosts", 12 * time.Minute, documented})
}

// TestErase: disks of four kinds full of data, erased by hand: each by its own method, nothing is
// left, and the signed report says so.
func TestErase(t *testing.T) {
	beside(t, profileLab, testCase{"erase", 8 * time.Minute, erased})
}

// TestKill: kill -9 of the conductor in the middle of cleaning, and of writing.
func TestKill(t *testing.T) {
	beside(t, profileLab, testCase{"kill", 10 * time.Minute, killed})
}

// TestSecure: a conductor behind TLS and passwords, known to the ramdisk by its pins; its certificate
// is replaced.
func TestSecure(t *testing.T) {
	beside(t, profileLab, testCase{"secure", 6 * time.Minute, secured})
}

// TestBadBMC: wrong password, hanging, garbage, dropped: back to enroll with the reason, BMC not
// hammered.
func TestBadBMC(t *testing.T) {
	beside(t, profileLab, testCase{"bad-bmc", 8 * time.Minute, badBMC})
}

// TestRescue: an adopted machine in rescue: SSH by password, the ramdisk's log, and back to its OS.
func TestRescue(t *testing.T) {
	beside(t, profileLab, testCase{"rescue", 6 * time.Minute, rescued})
}

// TestService: an active machine wiped, held and written again by service steps.
func TestService(t *testing.T) {
	beside(t, profileLab, testCase{"service", 6 * time.Minute, serviced})
}

// TestSilence: a machine that never calls times out with the last boot stage seen.
func TestSilence(t *testing.T) {
	beside(t, profileLab, testCase{"silence", 6 * time.Minute, silence})
}

// TestPartition: an image of a root partition: disk divided, EFI files copied, booted; rebuilt with
// another, the ephemeral partition kept.
func TestPartition(t *testing.T) {
	beside(t, profileLab, testCase{"partition", 8 * time.Minute, partitioned})
}

// TestDiscovery: a machine that is not enrolled is switched on, turns up in enroll, and becomes manageable.
func TestDiscovery(t *testing.T) {
	beside(t, profileLab, testCase{"discovery", 6 * time.Minute, discovered})
}
