package disk

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
// filesystems, RAID, LVM and encryption, first in every partition that any table on it
// names, and in RAID of them, then on the disk, and reads them back. User data elsewhere
// stays: this is Ironic's erase_devices_metadata, not a secure erase. It is also the first
// act of every write of an image: nothing of an earlier system is taken for the image's own.
func WipeMetadata(ctx context.Context, d Disk) (WipeReport, error) {
	w := &wiper{d: d}
	parts := formerContents(d)
	w.report.Partitions = len(parts)
	return w.report, w.all(ctx, sections(d, parts)...)
}

// wiper is one wipe.
type wiper struct {
	d      Disk
	kept   []Part // not to be touched; whole sectors
	report WipeReport
}

// all wipes sections, and reads them back.
func (w *wiper) all(ctx context.Context, sections ...named) error {
	for _, s := range sections {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.wipe(s); err != nil {
			return fmt.Errorf("wipe %s: %w", s.name, err)
		}
	}
	if err := w.d.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	for _, s := range sections {
		if err := w.verify(s); err != nil {
			return fmt.Errorf("verify %s: %w", s.name, err)
		}
	}
	return nil
}

// named is a section and its name for errors.
type named struct {
	section
	name string
}

// partSection is the section of a partition.
func partSection(d Disk, p Part) named {
	name := p.Name
	if p.Number > 0 {
		name = fmt.Sprintf("partition %d", p.Number)
	}
	return named{section{d, p.Start, p.Size}, name}
}

// sections are the partitions in falling order, then the disk itself: should
// the wipe be cut off, the table still says where the rest is.
func sections(d Disk, parts []Part) []named {
	var all []named
	for _, p := range slices.Backward(parts) {
		all = append(all, partSection(d, p))
	}
	return append(all, named{section{d, 0, d.Size()}, "disk"})
}

// wipe zeroes a section's edges and the signatures between them. The place of a signature
// that cannot be read is zeroed too: a drive replaces a bad sector when it is written.
func (w *wiper) wipe(s named) error {
	for _, sig := range signatures() {
		has, err := s.has(sig)
		if !has && err == nil {
			continue
		}
		name := s.name + ": " + sig.name
		if err != nil {
			name += " (unreadable)"
		}
		w.report.Found = append(w.report.Found, name)
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

// zero zeroes the sectors that off..off+n touches, but for those that are kept.
func (w *wiper) zero(off, n int64) error {
	sector := int64(w.d.LogicalSectorSize())
	end := min((off+n+sector-1)/sector*sector, w.d.Size())
	for _, r := range w.free(off/sector*sector, end) {
		if err := w.d.Zero(r.Start, r.Size); err != nil {
			return fmt.Errorf("zero %d bytes at %d: %w", r.Size, r.Start, err)
		}
		w.report.Zeroed += r.Size
	}
	return nil
}

// free are the parts of off..end that are not kept.
func (w *wiper) free(off, end int64) []Part {
	parts := []Part{{Start: off, Size: end - off}}
	for _, k := range w.kept {
		var rest []Part
		for _, p := range parts {
			before, behind := k.Start-p.Start, p.Start+p.Size-(k.Start+k.Size)
			if before >= p.Size || behind >= p.Size { // they do not touch
				rest = append(rest, p)
				continue
			}
			if before > 0 {
				rest = append(rest, Part{Start: p.Start, Size: before})
			}
			if behind > 0 {
				rest = append(rest, Part{Start: k.Start + k.Size, Size: behind})
			}
		}
		parts = rest
	}
	return parts
}

// verify reads a section back.
func (w *wiper) verify(s named) error {
	edge := min(s.len, wipeEdge)
	for _, off := range []int64{0, s.len - edge} {
		for _, r := range w.free(s.start+off, s.start+off+edge) {
			b, err := readAt(w.d, r.Start, int(r.Size))
			if err != nil {
				return err
			}
			if !isZero(b) {
				return fmt.Errorf("%w: expected zeroes in the %d bytes at %d", ErrNotWiped, r.Size, r.Start)
			}
		}
	}
	found, err := s.find()
	if err != nil {
		return err
	}
	for _, sig := range found {
		at := s.start + sig.at(s.len)
		if len(w.free(at, at+int64(len(sig.magic)))) > 0 {
			return fmt.Errorf("%w: found %s at %d", ErrNotWiped, sig.name, at)
		}
	}
	return nil
}
