// Package erase makes the data on a disk unreadable by the best method that the disk
// has, and verifies it. Methods are a table in order of preference, one file each. The
// plan of a disk is made of facts alone. Before it erases, it writes blocks of random
// data (canaries), which must be gone afterwards.
//
// It must not choose disks, and must not trust a disk's own report of success.
package erase

import (
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
)

// Drive is a whole disk opened for us alone that takes commands of its own
// kind. disk.Device is one.
type Drive interface {
	disk.Disk
	// Discard, SecureDiscard and ZeroOut are the kernel's BLKDISCARD, BLKSECDISCARD and
	// BLKZEROOUT over a range of bytes. They return errors.ErrUnsupported where the
	// device lacks them.
	Discard(off, n int64) error
	SecureDiscard(off, n int64) error
	ZeroOut(off, n int64) error
	// NVMeAdmin sends an NVMe admin command with its dwords 10 to 15 and waits
	// for its end. data is read or written in place.
	NVMeAdmin(opcode uint8, nsid uint32, cdw [6]uint32, data []byte, timeout time.Duration) error
	// SCSI sends a command block and waits for its end: in is filled, or out
	// is sent. It returns SCSI's status and the sense data.
	SCSI(cdb, in, out []byte, timeout time.Duration) (status uint8, sense []byte, err error)
}

// Timeouts of commands: of queries, and of those that erase and return only when they
// are done. A drive of 20 TB that overwrites itself needs 30 hours.
const (
	askTimeout   = 20 * time.Second
	eraseTimeout = 48 * time.Hour
	pollEvery    = 2 * time.Second
)
