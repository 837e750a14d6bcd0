package disk

import (
	"context"
	"errors"
	"fmt"
)

const (
	wipeEdge  = 1 << 20 // zeroed at both ends of the disk and of each partition
	wipeBlock = 4096    // zeroed around a signature elsewhere: a sector of any disk
)

// ErrNotWiped is wrapped when a disk does not read back as it was wiped.
var ErrNotWiped = errors.New("metadata is still there after wiping")

// WipeReport is the result of a wipe.
type WipeReport struct {
	Found      []string // signatures that were there, such as "partition 1: ext"
	Partitions int
	Zeroed     int64 // bytes
}

// WipeMetadata makes a disk look new. It zeroes the signatures of partition tables,
// filesystems, RAID, LVM and encryption, first in every partition, then on the disk,
// and reads them back. User data elsewhere stays: this is Ironic's
// erase_devices_metadata, not a secure erase.
func WipeMetadata(ctx context.Context, d Disk) (WipeReport, error) {
	w := &wiper{d: d}
	sections, err := w.sections()
	if err != nil {
		return w.report, err
	}
	for _, s := range sections {
		if err := ctx.Err(); err != nil {
			return w.report, err
		}
		if err := w.wipe(s); err != nil {
			return w.report, fmt.Errorf("wipe %s: %w", s.name, err)
		}
	}
	if err := d.Flush(); err != nil {
		return w.report, fmt.Errorf("flush: %w", err)
	}
	for _, s := range sections {
		if err := w.verify(s); err != nil {
			return w.report, fmt.Errorf("verify %s: %w", s.name, err)
		}
	}
	return w.report, nil
}

// wiper is one wipe.
type wiper struct {
	d      Disk
	report WipeReport
}

// named is a section and its name for errors.
type named struct {
	section
	name string
}

// sections are the partitions in falling order, then the disk itself: should
// the wipe be cut off, the table still says where the rest is.
func (w *wiper) sections() ([]named, error) {
	var all []named
	t, err := ReadTable(w.d)
	switch {
	case err == nil:
		parts := t.Parts()
		w.report.Partitions = len(parts)
		for i := len(parts) - 1; i >= 0; i-- {
			p := parts[i]
			all = append(all, named{section{w.d, p.Start, p.Size}, fmt.Sprintf("partition %d", p.Number)})
		}
	case !errors.Is(err, ErrNoTable) && !errors.Is(err, ErrTable):
		return nil, err // the disk cannot be read; a damaged table is only one more thing to wipe
	}
	return append(all, named{section{w.d, 0, w.d.Size()}, "disk"}), nil
}

// wipe zeroes a section's edges and what signatures lie between them.
func (w *wiper) wipe(s named) error {
	found, err := s.find()
	if err != nil {
		return err
	}
	for _, sig := range found {
		w.report.Found = append(w.report.Found, s.name+": "+sig.name)
		at := sig.at(s.len)
		if at < wipeEdge || at >= s.len-wipeEdge {
			continue
		}
		if err := w.zero(s.start+at, wipeBlock); err != nil {
			return err
		}
	}
	if err := w.zero(s.start+s.len-min(s.len, wipeEdge), min(s.len, wipeEdge)); err != nil {
		return err
	}
	return w.zero(s.start, min(s.len, wipeEdge))
}

// zero zeroes the sectors that off..off+n touches.
func (w *wiper) zero(off, n int64) error {
	sector := int64(w.d.LogicalSectorSize())
	end := min((off+n+sector-1)/sector*sector, w.d.Size())
	off = off / sector * sector
	if err := w.d.Zero(off, end-off); err != nil {
		return fmt.Errorf("zero %d bytes at %d: %w", end-off, off, err)
	}
	w.report.Zeroed += end - off
	return nil
}

// verify reads a section back.
func (w *wiper) verify(s named) error {
	edge := min(s.len, wipeEdge)
	for _, off := range []int64{0, s.len - edge} {
		b, err := readAt(w.d, s.start+off, int(edge))
		if err != nil {
			return err
		}
		if !isZero(b) {
			return fmt.Errorf("%w: expected zeroes in the %d bytes at %d", ErrNotWiped, edge, s.start+off)
		}
	}
	found, err := s.find()
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: found %s at %d", ErrNotWiped, found[0].name, found[0].at(s.len))
	}
	return nil
}
