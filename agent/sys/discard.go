package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's ways to give up a range of a block device (linux/fs.h); each
// takes start and length in bytes.
const (
	blkDiscard       = 0x1277 // _IO(0x12, 119)
	blkSecureDiscard = 0x127d // _IO(0x12, 125)
)

// Discard informs the device that a range is not needed any more. The device chooses the
// content that is read there afterwards. A device without it gives EOPNOTSUPP, which is
// errors.ErrUnsupported.
func (Linux) Discard(fd uintptr, off, n int64) error {
	return overRange(fd, blkDiscard, "BLKDISCARD", off, n)
}

// SecureDiscard is Discard of a range with all copies the device may have made
// of it, as eMMC has it.
func (Linux) SecureDiscard(fd uintptr, off, n int64) error {
	return overRange(fd, blkSecureDiscard, "BLKSECDISCARD", off, n)
}

// ZeroOut makes a range read as zeroes by the device's own means where it has
// them; where not, the kernel writes zeroes.
func (Linux) ZeroOut(fd uintptr, off, n int64) error {
	return overRange(fd, unix.BLKZEROOUT, "BLKZEROOUT", off, n)
}

func overRange(fd, request uintptr, name string, off, n int64) error {
	span := [2]uint64{uint64(off), uint64(n)}
	if _, err := ioctlStatus(fd, request, unsafe.Pointer(&span)); err != nil {
		return fmt.Errorf("%s of %d bytes at %d: %w", name, n, off, err)
	}
	return nil
}
