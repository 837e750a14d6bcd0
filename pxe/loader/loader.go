// Package loader knows the boot loaders: which one a firmware starts, and how
// to open it in the one folder they are served from (Debian's /usr/lib/ipxe).
// TFTP and boot HTTP both serve through it, so a name DHCP hands out means
// the same file everywhere.
//
// It must not decide whether a machine boots, and it never writes.
package loader

import (
	"slices"

	"github.com/ferrite-metal/ferrite/pxe"
)

// The client architectures that stand for all that boot the same file, as DHCP option 93 numbers them (RFC 4578 section
// 2.1 and the IANA registry it opened).
const (
	archBIOS = 0
	archX64  = 7
)

type choice struct {
	firmware pxe.Firmware
	arch     uint16
	file     string
}

// choices is the whole policy. The UEFI loaders drive the NIC through the
// firmware's own driver (snponly), so every NIC the firmware can boot from works.
func choices() []choice {
	return []choice{
		{pxe.BIOS, archBIOS, "undionly.kpxe"},
		{pxe.UEFI, archX64, "snponly.efi"},
		{pxe.UEFIHTTP, archX64, "snponly.efi"},
	}
}

func machine(f pxe.Firmware, arch uint16) string { return pxe.Event{Firmware: f, Arch: arch}.Machine() }

// For names the boot loader of a firmware on an architecture. It returns false for iPXE, which needs none, and for
// architectures without a loader. One architecture has several numbers (x64: 7, 9 and, by HTTP, 16), and some firmware
// sends the number of the other way to boot.
func For(f pxe.Firmware, arch uint16) (string, bool) {
	wanted := machine(f, arch)
	for _, c := range choices() {
		if c.firmware == f && machine(c.firmware, c.arch) == wanted {
			return c.file, true
		}
	}
	return "", false
}

// Files lists every boot loader For can name, each once.
func Files() []string {
	return each(func(c choice) string { return c.file })
}

// Machines lists the kinds of machine that there is a loader for, in words.
func Machines() []string {
	return each(func(c choice) string { return machine(c.firmware, c.arch) })
}

// each lists one property of all choices, without repetitions.
func each(of func(choice) string) (all []string) {
	for _, c := range choices() {
		if word := of(c); !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
