// Package inventory collects a machine's hardware from sysfs and proc: one file per
// collector, each a function from a file system to plain data, tested on trees
// captured from real machines. Two collectors ask further: the BMC over IPMI for its
// addresses, and the switches by LLDP.
//
// It must not change anything and must not guess: a value that the machine does not
// give is left empty. Package rootdevice, which the conductor shares, chooses the disk
// to install onto.
package inventory

import (
	"context"
	"io/fs"
	"log/slog"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Host is the machine to look at.
type Host struct {
	FS        fs.FS                          // the root, with sys and proc
	Addresses func(name string) []netip.Addr // of a network interface
	IPMI      IPMI
	Hostname  string
	Machine   string // processor architecture as uname has it
	BootIF    string // as it came on the kernel line
	Log       *slog.Logger
}

// Collect collects the whole inventory. A value that cannot be read is logged and left
// out.
func (h Host) Collect(ctx context.Context) agentapi.Inventory {
	disks, left := Disks(h.FS)
	interfaces, skipped := Interfaces(h.FS, h.Addresses)
	h.noteSkipped(ctx, map[string][]Skipped{
		"disk": left, "interface": skipped, "address": withoutAddress(interfaces), "SMBIOS": damaged(h.FS),
	})
	bmc := FindBMC(ctx, h.IPMI, h.Log)
	return agentapi.Inventory{
		Interfaces:   interfaces,
		CPU:          CPU(h.FS, h.Machine),
		Memory:       Memory(h.FS),
		Disks:        disks,
		BMCAddress:   bmc.IPv4,
		BMCv6Address: bmc.IPv6,
		BMCMAC:       bmc.MAC,
		SystemVendor: SystemVendor(h.FS),
		Boot: agentapi.BootInfo{CurrentBootMode: BootMode(h.FS), PXEInterface: h.BootIF,
			SecureBoot: SecureBoot(h.FS)},
		Hostname: h.Hostname,
		TPM:      TPM(h.FS),
	}
}

// text reads a file of one line without its blanks; "" when it cannot be
// read, as sysfs files of absent features cannot.
func text(fsys fs.FS, elem ...string) string {
	b, err := fs.ReadFile(fsys, path.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.Trim(string(b), "\x00\n"))
}

// number reads a file that holds a number; 0 when it does not.
func number(fsys fs.FS, elem ...string) int64 {
	n, err := strconv.ParseInt(text(fsys, elem...), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// exists reports whether there is such a file.
func exists(fsys fs.FS, elem ...string) bool {
	_, err := fs.Stat(fsys, path.Join(elem...))
	return err == nil
}

// names lists a folder; nothing when there is none.
func names(fsys fs.FS, elem ...string) []string {
	entries, err := fs.ReadDir(fsys, path.Join(elem...))
	if err != nil {
		return nil
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out
}

// linkOf is where a symbolic link points, "" when it is none.
func linkOf(fsys fs.FS, elem ...string) string {
	to, err := fs.ReadLink(fsys, path.Join(elem...))
	if err != nil {
		return ""
	}
	return to
}
