// Package bootentry finds out how the operating system on a disk would be booted: which
// kernel, which initial ramdisk, which command line. The agent starts that by kexec.
//
// It never guesses. A boot entry is used only where it is certain that the firmware's
// way would end at the same one; all else is an error that says why. It does no I/O of
// its own: it reads file systems that the caller has opened, and never writes.
//
// There are parsers of these files in u-root's pkg/boot. They list everything that may be
// booted, for a person to choose from. They skip conditions, variables and entries that
// they do not know, and so cannot say which entry is the default one.
package bootentry

import (
	"fmt"
	"io/fs"
)

// System is a disk with an operating system, and the firmware that would boot it.
type System struct {
	Disk string // its name, for errors
	Arch string // as Go names it
	UEFI bool   // the firmware; otherwise BIOS
	// ESP is the number of the partition with the boot loader, and Loader its path as
	// the boot entry has it, with the Options given to it. UEFI alone.
	ESP             int
	Loader, Options string
	// Choices are the EFI variables that make a boot loader choose an entry, or change
	// one: other than the disk, they may be of an earlier system.
	Choices []string
	// BootCode is the first sector of the disk. BIOS alone.
	BootCode   []byte
	Partitions []*Partition
}

// Partition is a partition of the disk.
type Partition struct {
	Number   int
	Type     string // a GUID in small letters, or "0x83"
	PartUUID string
	Kind     string // of the file system, as mount(2) names it; "" for none
	UUID     string // of the file system, as blkid prints it
	Label    string // of the file system
	Active   bool   // marked for a BIOS to boot from
	BootCode []byte // its first sector
	// Open opens the file system. Its files are io.ReaderAt.
	Open func() (fs.FS, error)
}

// String names a partition for errors.
func (p *Partition) String() string {
	s := fmt.Sprintf("partition %d", p.Number)
	if p.Kind != "" {
		s += " (" + p.Kind + ")"
	}
	return s
}

// The sources of an entry.
const (
	sourceUKI      = "uki"
	sourceBLS      = "bls"
	sourceGRUB     = "grub"
	sourceSyslinux = "syslinux"
)

// Entry is a boot entry.
type Entry struct {
	Source      string // uki, bls, grub or syslinux
	Title       string
	Kernel      Blob
	Initrd      []Blob // in the order of loading
	CommandLine string
}

// Find finds the entry that a start of the firmware would boot. The error says why there
// is none to be certain of.
func Find(s System) (Entry, error) {
	find := s.byBIOS
	if s.UEFI {
		find = s.byUEFI
	}
	e, err := find()
	if err == nil {
		err = e.check(s)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("%s: %w", s.Disk, err)
	}
	return e, nil
}

// partition finds a partition by its number.
func (s System) partition(number int) (*Partition, error) {
	for _, p := range s.Partitions {
		if p.Number == number {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no partition %d", number)
}
