package disk

import (
	"errors"
	"fmt"
	"io"
)

// Disk is a whole disk. Offsets and lengths of writes are multiples of the
// logical sector size; reads may be anywhere. It is also images/disk's Target.
type Disk interface {
	io.ReaderAt
	io.WriterAt
	// Zero makes n bytes from off read as zeroes.
	Zero(off, n int64) error
	// Size is the capacity in bytes.
	Size() int64
	// LogicalSectorSize is 512 or 4096.
	LogicalSectorSize() int
	// Flush returns when all that was written is on the medium.
	Flush() error
}

// ErrNoTable says that a disk has no partition table.
var ErrNoTable = errors.New("no partition table")

// ErrTable is wrapped when a partition table cannot be used.
var ErrTable = errors.New("partition table")

// mib is the alignment of the partitions we make, and of most we find.
const mib = 1 << 20

// readAt reads n bytes at off, which must lie on the disk.
func readAt(d io.ReaderAt, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := d.ReadAt(b, off)
	if got == n {
		return b, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("read %d bytes at %d: %w", n, off, err)
}

// writeAt writes b at off, filled up with zeroes to a whole sector.
func writeAt(d Disk, b []byte, off int64) error {
	if rest := len(b) % d.LogicalSectorSize(); rest != 0 {
		b = append(b[:len(b):len(b)], make([]byte, d.LogicalSectorSize()-rest)...)
	}
	if _, err := d.WriteAt(b, off); err != nil {
		return fmt.Errorf("write %d bytes at %d: %w", len(b), off, err)
	}
	return nil
}
