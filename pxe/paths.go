package pxe

import "net"

// The paths of boot HTTP. They stand here because two packages must agree on
// them: dhcp and ipxe name them, httpboot serves them.

// LoaderPath is where boot HTTP serves a boot loader.
func LoaderPath(file string) string { return "/loader/" + file }

// ScriptPath is where boot HTTP serves a machine's iPXE script.
func ScriptPath(mac net.HardwareAddr) string { return "/ipxe/" + hyphens(mac) }

// StartPath is where boot HTTP serves the iPXE script that finds a machine's own: for DHCP servers
// of others, which name one file for all machines.
func StartPath() string { return "/ipxe/start" }

// KernelPath is where boot HTTP serves the kernel a machine is to boot.
func KernelPath(mac net.HardwareAddr) string { return "/boot/" + hyphens(mac) + "/kernel" }

// InitrdPath is where boot HTTP serves the ramdisk that goes with the kernel.
func InitrdPath(mac net.HardwareAddr) string { return "/boot/" + hyphens(mac) + "/initrd" }

// OverlayPath is where boot HTTP serves the archive that goes before the ramdisk.
func OverlayPath(mac net.HardwareAddr) string { return "/boot/" + hyphens(mac) + "/overlay" }

// FailedPath is where iPXE reports that a machine could not boot, and why.
func FailedPath(mac net.HardwareAddr) string { return "/boot/" + hyphens(mac) + "/failed" }

// hyphens writes a MAC as 52-54-00-77-00-01: a colon in a path is legal, but
// not every firmware's URL parser knows that.
func hyphens(mac net.HardwareAddr) string {
	b := []byte(mac.String())
	for i, c := range b {
		if c == ':' {
			b[i] = '-'
		}
	}
	return string(b)
}
