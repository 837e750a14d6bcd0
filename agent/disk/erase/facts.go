package erase

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Facts are the known properties of a disk before it is erased.
type Facts struct {
	Disk    agentapi.Disk
	Skip    string // why the operator or its kind keeps it from being erased; "" when nothing does
	Problem string // why nothing more could be found out; "" when it could

	ReadOnly   bool
	Shared     string // a file system that other machines may use; "" when none
	Locked     bool   // by TCG Opal
	Discard    bool   // the kernel can discard on it
	WriteZeros bool   // the device zeroes by itself when the kernel asks
	nvme       *nvmeFacts
	ata        *ataFacts
	scsi       *scsiFacts
}

// Skipped is a disk that is not to be erased, and why.
func Skipped(d agentapi.Disk, reason string) Facts { return Facts{Disk: d, Skip: reason} }

// Unknown is a disk of which nothing could be found out.
func Unknown(d agentapi.Disk, err error) Facts { return Facts{Disk: d, Problem: err.Error()} }

// Marked collects the kernel's facts of a disk without asking the disk, in a root file
// system with sys.
func Marked(sys fs.FS, d agentapi.Disk) Facts {
	number := func(elem ...string) int64 {
		b, err := fs.ReadFile(sys, path.Join(append([]string{"sys/block", sysName(d)}, elem...)...))
		if err != nil {
			return 0
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	f := Facts{
		Disk: d, ReadOnly: number("ro") == 1,
		Discard: number("queue/discard_max_bytes") > 0, WriteZeros: number("queue/write_zeroes_max_bytes") > 0,
	}
	if strings.HasPrefix(sysName(d), "nvme") {
		f.nvme = &nvmeFacts{nsid: uint32(number("nsid"))}
	}
	return f
}

// sysName is a disk's name in sysfs, which cannot have slashes in names.
func sysName(d agentapi.Disk) string {
	return strings.ReplaceAll(strings.TrimPrefix(d.Name, "/dev/"), "/", "!")
}

// Probe adds the disk's own facts. It writes nothing.
func (f Facts) Probe(d Drive) (Facts, error) {
	var err error
	switch kind(f.Disk) {
	case "nvme":
		if f.nvme, err = probeNVMe(d, f.nvme.nsid); err != nil {
			return f, err
		}
		f.ReadOnly = f.ReadOnly || f.nvme.namespace.protected
		f.Locked = f.nvme.controller.security &&
			discovered(func(b []byte) error { return securityReceiveCommand(len(b)).send(d, b, askTimeout) })
	case "ata":
		a, err := identifyATA(d)
		if err != nil {
			return f, err
		}
		f.ata = &a
		f.Locked = a.trusted && discovered(func(b []byte) error {
			return ataTrustedCommand(byte(len(b)/ataSector)).ask(d, b)
		})
	case "scsi":
		if f.scsi, err = probeSCSI(d); err != nil {
			return f, err
		}
		f.Locked = discovered(func(b []byte) error { return securityInCommand(uint32(len(b))).ask(d, b) })
	}
	if f.Locked || f.ata != nil && f.ata.locked {
		return f, nil // nothing can be read
	}
	err = disk.Guard(d)
	if errors.Is(err, disk.ErrProtected) {
		f.Shared = err.Error()
		return f, nil
	}
	return f, err
}

// discovered reads TCG level 0 discovery. Drives that do not answer it are no
// self-encrypting drives.
func discovered(read func([]byte) error) bool {
	b := make([]byte, tcgSize)
	return read(b) == nil && parseDiscovery(b)
}

// kind is the command set of a disk: nvme, ata, scsi, or "" for none. Bridges from USB
// get no commands: some hang at unknown ones, and an erase that times out in one
// leaves the drive behind it locked.
func kind(d agentapi.Disk) string {
	name := strings.TrimPrefix(d.Name, "/dev/")
	switch {
	case strings.HasPrefix(name, "nvme"):
		return "nvme"
	case d.Transport == "usb" || !strings.HasPrefix(name, "sd"):
		return ""
	case d.Transport == "sata" || strings.TrimSpace(d.Vendor) == "ATA": // as SAT has it behind a SAS controller
		return "ata"
	}
	return "scsi"
}

// zeroes reports whether the device promises that discarded blocks read as zeroes.
func (f Facts) zeroes() bool {
	return f.nvme != nil && f.nvme.namespace.zeroes || f.ata != nil && f.ata.zeroes || f.scsi != nil && f.scsi.zeroes
}

// refusal says why the step must fail at this disk; "" when it need not.
func (f Facts) refusal(o Options) string {
	switch {
	case f.Problem != "":
		return f.Problem
	case f.ReadOnly:
		return "it is read-only; take the protection off, or let the conductor say agent_erase_skip_read_only to leave " +
			"it as it is"
	case f.Shared != "" && !o.Shared:
		return fmt.Sprintf("%s; to lose it on purpose, set driver_internal_info.wipe_special_filesystems to false",
			f.Shared)
	case f.Locked:
		return "it encrypts itself and is locked (TCG Opal): unlock it, or revert it with the PSID printed on its label"
	case f.ata != nil && f.ata.locked && f.ata.expired:
		return "it is locked by an ATA password, and takes no more tries before its power has been cut"
	}
	return ""
}
