//go:build bootways

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// TestBootWaysLive: machines that boot their workload from the network: kernel and ramdisk, and an ISO.
func TestBootWaysLive(t *testing.T) {
	beside(t, profileLab, testCase{"live", 6 * time.Minute, live})
}

// TestBootWaysOVMFPXE: the firmware's own PXE and our TFTP.
func TestBootWaysOVMFPXE(t *testing.T) {
	beside(t, profileLab, testCase{"ovmf-pxe", 6 * time.Minute, ovmfPXE})
}

// TestBootWaysUEFIHTTP: UEFI HTTP boot, no TFTP at all.
func TestBootWaysUEFIHTTP(t *testing.T) {
	beside(t, profileLab, testCase{"uefi-http", 6 * time.Minute, uefiHTTP})
}

// TestBootWaysDHCPOff: a DHCP server of the site's own gives addresses and names the boot files.
func TestBootWaysDHCPOff(t *testing.T) {
	beside(t, profileLab, testCase{"dhcp-off", 6 * time.Minute, besideDnsmasq})
}

// TestBootWaysProxy: a DHCP server of the site's own gives addresses, the conductor names the boot files. That
// server is another host, or shares port 67 with the conductor.
func TestBootWaysProxy(t *testing.T) {
	for name, run := range map[string]func(context.Context, *bed) error{
		"proxy": behindProxy, "proxy-shared": sharedProxy,
	} {
		t.Run(name, func(t *testing.T) { beside(t, profileLab, testCase{name, 6 * time.Minute, run}) })
	}
}

// TestBootWaysRelay: a rack behind a router, which relays DHCP to the conductor.
func TestBootWaysRelay(t *testing.T) {
	beside(t, profileLab, testCase{"relay", 6 * time.Minute, behindRelay})
}

// TestBootWaysForged: a machine erased by its real agent while another host of the boot network claims to be it.
func TestBootWaysForged(t *testing.T) {
	beside(t, profileLab, testCase{"forged", 6 * time.Minute, forged})
}

// TestBootWaysMedium: the ramdisk in a virtual drive, on each bus, without a DHCP server, and a life by it; a workload
// in the drive; and the ramdisk on a USB stick.
func TestBootWaysMedium(t *testing.T) {
	for name, run := range map[string]func(context.Context, *bed) error{
		"vmedia-uefi-usb": bootMedium(qemu.UEFI, qemu.BusUSB), "vmedia-bios-usb": bootMedium(qemu.BIOS, qemu.BusUSB),
		"vmedia-uefi-scsi": bootMedium(qemu.UEFI, qemu.BusSCSI), "vmedia-bios-scsi": bootMedium(qemu.BIOS, qemu.BusSCSI),
		"vmedia-uefi": mediumAlone(qemu.UEFI), "vmedia-bios": mediumAlone(qemu.BIOS),
		"vmedia-life": mediumLife, "vmedia-live": liveMedium,
		"stick-uefi": stick(qemu.UEFI), "stick-bios": stick(qemu.BIOS),
	} {
		t.Run(name, func(t *testing.T) { beside(t, profileLab, testCase{name, 6 * time.Minute, run}) })
	}
}

// TestBootWaysStatic: fifty boots from a medium without any DHCP, ten on each kind of network.
func TestBootWaysStatic(t *testing.T) {
	for _, n := range staticNetworks {
		for _, firmware := range bothFirmwares {
			name := fmt.Sprintf("static-%s-%s", n.name, firmware)
			t.Run(name, func(t *testing.T) {
				beside(t, profileLab, testCase{name, 40 * time.Minute, mediumOn(n, firmware)})
			})
		}
	}
}
