// Package mkfs makes the empty file systems that a disk needs for an operating system:
// vfat, ext4 and swap space. A ramdisk has no mkfs programs, and the kernel makes
// none.
//
// Each has the layout that the program of that name writes, without further options.
// It leaves the partition's other bytes alone. The package must not choose where: it
// is given the partition and nothing around it.
package mkfs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Partition is the place for a file system. Offsets and lengths of writes are
// multiples of the logical sector size.
type Partition interface {
	io.WriterAt
	// Zero makes n bytes from off read as zeroes.
	Zero(off, n int64) error
	// Size is in bytes.
	Size() int64
	// LogicalSectorSize is 512 or 4096.
	LogicalSectorSize() int
}

// maker makes one kind. random names it: crypto/rand.Reader, but for tests.
type maker struct {
	fits func(p Partition, label string) error
	make func(p Partition, label string, random io.Reader) error
}

// makers are the file systems, as mkfs(8) names them.
var makers = map[string]maker{"ext4": {fitsExt4, makeExt4}, "vfat": {fitsVFAT, makeVFAT}}

// Check refuses a kind that cannot be made.
func Check(kind string) error {
	if _, ok := makers[kind]; !ok {
		return fmt.Errorf("file system %q cannot be made here, expected one of %s", kind,
			strings.Join(slices.Sorted(maps.Keys(makers)), ", "))
	}
	return nil
}

// Fits refuses a partition that is too small or too large for a file system of a
// kind. Nothing is written.
func Fits(kind string, p Partition, label string) error {
	if err := Check(kind); err != nil {
		return err
	}
	if err := makers[kind].fits(p, label); err != nil {
		return fmt.Errorf("make %s: %w", kind, err)
	}
	return nil
}

// Make makes a file system of a kind, with a label as long as that kind
// allows.
func Make(kind string, p Partition, label string, random io.Reader) error {
	if err := Check(kind); err != nil {
		return err
	}
	if err := makers[kind].make(p, label, random); err != nil {
		return fmt.Errorf("make %s: %w", kind, err)
	}
	return nil
}

// Swap makes swap space, version 1.
func Swap(p Partition, label string, random io.Reader) error {
	if err := makeSwap(p, label, random); err != nil {
		return fmt.Errorf("make swap space: %w", err)
	}
	return nil
}

// labelFits refuses a label that a file system has no room for.
func labelFits(label string, most int) error {
	if len(label) > most {
		return fmt.Errorf("label %q has %d bytes, expected at most %d", label, len(label), most)
	}
	return nil
}

// writeAt writes b at off, filled up with zeroes to a whole sector.
func writeAt(p Partition, b []byte, off int64) error {
	if rest := len(b) % p.LogicalSectorSize(); rest != 0 {
		b = append(b[:len(b):len(b)], make([]byte, p.LogicalSectorSize()-rest)...)
	}
	if _, err := p.WriteAt(b, off); err != nil {
		return fmt.Errorf("write %d bytes at %d: %w", len(b), off, err)
	}
	return nil
}

// newID reads the 16 bytes a file system is known by: a UUID of version 4
// (RFC 9562), its bytes in the order they are printed.
func newID(random io.Reader) (id [16]byte, err error) {
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return id, fmt.Errorf("make a UUID: %w", err)
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id, nil
}
