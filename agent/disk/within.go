package disk

import "fmt"

// within is a partition taken for a disk: nothing around it can be read or
// written.
type within struct {
	section
}

// Within takes a partition of d for a disk of its own. Its node in /dev is not
// needed, and d stays open alone.
func Within(d Disk, p Part) Disk { return within{section{d, p.Start, p.Size}} }

// WriteAt writes whole sectors.
func (w within) WriteAt(b []byte, off int64) (int, error) {
	if err := w.holds(off, int64(len(b))); err != nil {
		return 0, err
	}
	return w.d.WriteAt(b, w.start+off)
}

// Zero makes a run of sectors read as zeroes.
func (w within) Zero(off, n int64) error {
	if err := w.holds(off, n); err != nil {
		return err
	}
	return w.d.Zero(w.start+off, n)
}

// holds refuses a range that is not all within.
func (w within) holds(off, n int64) error {
	if off < 0 || n < 0 || off+n > w.len {
		return fmt.Errorf("write %d bytes at %d: beyond the partition's %d bytes", n, off, w.len)
	}
	return nil
}

// Size is the partition's, in bytes.
func (w within) Size() int64 { return w.len }

// LogicalSectorSize is the disk's.
func (w within) LogicalSectorSize() int { return w.d.LogicalSectorSize() }

// Flush returns when all that was written to the disk is on the medium.
func (w within) Flush() error { return w.d.Flush() }
