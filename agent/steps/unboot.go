package steps

import (
	"fmt"
	"sync/atomic"
)

// watchedDisk notes whether anything was written at all: a write that was
// refused beforehand leaves the disk as it was.
type watchedDisk struct {
	Device
	touched atomic.Bool
}

// WriteAt notes and writes.
func (d *watchedDisk) WriteAt(p []byte, off int64) (int, error) {
	d.touched.Store(true)
	return d.Device.WriteAt(p, off)
}

// Zero notes and zeroes.
func (d *watchedDisk) Zero(off, n int64) error {
	d.touched.Store(true)
	return d.Device.Zero(off, n)
}

// edge is zeroed at both ends of a disk: boot code, the partition table and, at the
// end, its backup, which firmware would fall back to.
const edge = 1 << 20

// unboot makes sure that a disk with half an image does not boot.
func unboot(d Device) error {
	n := min(edge, d.Size())
	for _, off := range []int64{0, d.Size() - n} {
		if err := d.Zero(off, n); err != nil {
			return fmt.Errorf("and the half-written disk may still boot: %w", err)
		}
	}
	if err := d.Flush(); err != nil {
		return fmt.Errorf("and the half-written disk may still boot: %w", err)
	}
	return nil
}
