package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"unicode/utf16"
)

const (
	gptMagic      = "EFI PART"
	gptHeaderSize = 92
	gptMinEntries = 16 << 10 // bytes both tables reserve for entries, at least
	gptMaxEntries = 1 << 20  // bytes we are willing to read
)

// GPT is a GUID partition table (UEFI specification section 5.3). The entries keep the bytes that were read, so that
// unknown fields survive.
type GPT struct {
	DiskID      GUID
	FirstUsable int64 // sectors
	LastUsable  int64
	FromBackup  bool // the primary table was damaged

	sector     int
	entriesLBA int64 // of the primary table
	alternate  int64 // sector of the other header
	entrySize  int
	entries    []byte
}

// Partition is an entry of a GPT.
type Partition struct {
	Number      int // from 1
	Type, ID    GUID
	First, Last int64 // sectors, both included
	Attributes  uint64
	Name        string
}

// NewGPT makes an empty table of 128 entries for d.
func NewGPT(d Disk, id GUID) *GPT {
	g := &GPT{DiskID: id, sector: d.LogicalSectorSize(), entriesLBA: 2, entrySize: 128,
		entries: make([]byte, gptMinEntries)}
	g.FirstUsable = g.entriesLBA + g.entrySectors()
	g.Fit(d)
	return g
}

// gptHeader holds the fields of a header.
type gptHeader struct {
	alternate, first, last, entriesLBA int64
	id                                 GUID
	count, size                        int
	entriesCRC                         uint32
}

// parseGPTHeader reads a header that lies in sector lba. It is pure.
func parseGPTHeader(b []byte, lba int64) (gptHeader, error) {
	le := binary.LittleEndian
	var h gptHeader
	if len(b) < gptHeaderSize || string(b[:8]) != gptMagic {
		return h, ErrNoTable
	}
	n := le.Uint32(b[12:])
	if n < gptHeaderSize || int(n) > len(b) {
		return h, fmt.Errorf("%w: GPT header of %d bytes, expected %d to %d", ErrTable, n, gptHeaderSize, len(b))
	}
	summed := bytes.Clone(b[:n])
	clear(summed[16:20])
	if got, want := crc32.ChecksumIEEE(summed), le.Uint32(b[16:]); got != want {
		return h, fmt.Errorf("%w: GPT header's checksum is %08x, expected %08x", ErrTable, got, want)
	}
	if at := int64(le.Uint64(b[24:])); at != lba {
		return h, fmt.Errorf("%w: GPT header in sector %d says it is in sector %d", ErrTable, lba, at)
	}
	h.alternate, h.first, h.last = int64(le.Uint64(b[32:])), int64(le.Uint64(b[40:])), int64(le.Uint64(b[48:]))
	h.entriesLBA = int64(le.Uint64(b[72:]))
	copy(h.id[:], b[56:72])
	count, size := le.Uint32(b[80:]), le.Uint32(b[84:])
	h.entriesCRC = le.Uint32(b[88:])
	if size < 128 || size > 4096 || size&(size-1) != 0 || count == 0 || uint64(count)*uint64(size) > gptMaxEntries {
		return h, fmt.Errorf("%w: GPT of %d entries of %d bytes", ErrTable, count, size)
	}
	h.count, h.size = int(count), int(size)
	if h.entriesLBA < 2 || h.first < 2 || h.last < h.first {
		return h, fmt.Errorf("%w: GPT usable sectors %d to %d, entries in %d", ErrTable, h.first, h.last, h.entriesLBA)
	}
	return h, nil
}

// ReadGPT reads the primary table. When that is damaged, it reads the backup at the
// disk's end, which counts only behind a protective MBR: else it is of an earlier system
// (UEFI specification, section 5.2.3). ErrNoTable means that neither is there.
func ReadGPT(d Disk) (*GPT, error) {
	g, err := readGPTAt(d, 1)
	if err == nil {
		return g, nil
	}
	if is, mbrErr := protected(d); mbrErr != nil {
		return nil, mbrErr
	} else if !is && errors.Is(err, ErrNoTable) {
		return nil, otherSectorSize(d)
	} else if !is {
		return nil, err
	}
	last := d.Size()/int64(d.LogicalSectorSize()) - 1
	backup, backupErr := readGPTAt(d, last)
	if backupErr == nil {
		backup.FromBackup = true
		return backup, nil
	}
	if errors.Is(err, ErrNoTable) && errors.Is(backupErr, ErrNoTable) {
		return nil, otherSectorSize(d)
	}
	return nil, fmt.Errorf("primary: %w; backup: %w", err, backupErr)
}

// otherSectorSize words the case of an image made for disks of other sectors.
func otherSectorSize(d Disk) error {
	other := int64(512 + 4096 - d.LogicalSectorSize())
	if other+8 > d.Size() {
		return ErrNoTable
	}
	b, err := readAt(d, other, 8)
	if err != nil {
		return err
	}
	if string(b) == gptMagic {
		return fmt.Errorf("%w: GPT was made for sectors of %d bytes, the disk has sectors of %d: "+
			"use an image made for such disks",
			ErrTable, other, d.LogicalSectorSize())
	}
	return ErrNoTable
}

// readGPTAt reads the table with its header in sector lba.
func readGPTAt(d Disk, lba int64) (*GPT, error) {
	sector := int64(d.LogicalSectorSize())
	if lba < 1 || (lba+1)*sector > d.Size() {
		return nil, ErrNoTable
	}
	b, err := readAt(d, lba*sector, int(sector))
	if err != nil {
		return nil, err
	}
	h, err := parseGPTHeader(b, lba)
	if err != nil {
		return nil, err
	}
	n := h.count * h.size
	if h.entriesLBA > (d.Size()-int64(n))/sector {
		return nil, fmt.Errorf("%w: GPT entries in sector %d lie beyond the disk's end", ErrTable, h.entriesLBA)
	}
	entries, err := readAt(d, h.entriesLBA*sector, n)
	if err != nil {
		return nil, err
	}
	if got := crc32.ChecksumIEEE(entries); got != h.entriesCRC {
		return nil, fmt.Errorf("%w: GPT entries' checksum is %08x, expected %08x", ErrTable, got, h.entriesCRC)
	}
	g := &GPT{DiskID: h.id, FirstUsable: h.first, LastUsable: h.last, sector: int(sector), entriesLBA: h.entriesLBA,
		alternate: h.alternate, entrySize: h.size, entries: entries}
	if lba != 1 {
		g.entriesLBA = 2
	}
	return g, g.check(d)
}

// check refuses partitions that lie outside the disk or on each other.
func (g *GPT) check(d Disk) error {
	parts := g.Partitions()
	slices.SortFunc(parts, func(a, b Partition) int { return int(min(1, max(-1, a.First-b.First))) })
	end := d.Size() / int64(g.sector)
	next := int64(2)
	for _, p := range parts {
		if p.First < next || p.Last < p.First || p.Last >= end {
			return fmt.Errorf("%w: GPT partition %d, sectors %d to %d, overlaps another or the disk's end (%d sectors)",
				ErrTable, p.Number, p.First, p.Last, end)
		}
		next = p.Last + 1
	}
	return nil
}

// count of entries, used or not.
func (g *GPT) count() int { return len(g.entries) / g.entrySize }

// entry is the raw entry of a partition number.
func (g *GPT) entry(number int) []byte {
	return g.entries[(number-1)*g.entrySize : number*g.entrySize]
}

// entrySectors is the size of one copy of the entries.
func (g *GPT) entrySectors() int64 {
	n := max(len(g.entries), gptMinEntries)
	return int64((n + g.sector - 1) / g.sector)
}

// Partitions lists the used entries by number.
func (g *GPT) Partitions() []Partition {
	le := binary.LittleEndian
	var parts []Partition
	for n := 1; n <= g.count(); n++ {
		b := g.entry(n)
		p := Partition{Number: n, First: int64(le.Uint64(b[32:])), Last: int64(le.Uint64(b[40:])),
			Attributes: le.Uint64(b[48:])}
		copy(p.Type[:], b)
		copy(p.ID[:], b[16:])
		if p.Type.IsZero() {
			continue
		}
		p.Name = utf16Text(b[56:128])
		parts = append(parts, p)
	}
	return parts
}

// utf16Text reads a little-endian string up to its first zero.
func utf16Text(b []byte) string {
	var u []uint16
	for ; len(b) >= 2; b = b[2:] {
		c := binary.LittleEndian.Uint16(b)
		if c == 0 {
			break
		}
		u = append(u, c)
	}
	return string(utf16.Decode(u))
}
