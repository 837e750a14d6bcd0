package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf16"
)

// Fit sets the last usable sector for d: the backup table takes the end.
func (g *GPT) Fit(d Disk) {
	g.LastUsable = d.Size()/int64(g.sector) - 2 - g.entrySectors()
}

// FitGPT moves an image's backup table from where the image ended to the end
// of the disk and gives the disk's whole room to the table, so that firmware
// and partition tools find nothing wrong. A disk without a GPT, or with an MBR that is
// not protective, is left alone, with ErrNoTable. A table of which only the backup is
// good is refused: nothing says that the image has written it.
func FitGPT(d Disk) error {
	t, err := ReadTable(d)
	switch {
	case err != nil:
		return err
	case t.GPT == nil:
		return fmt.Errorf("%w: the partition table is an MBR's", ErrNoTable)
	case t.GPT.FromBackup:
		return fmt.Errorf("%w: the GPT at the disk's start is damaged, only the backup at its end is good: "+
			"make the image anew", ErrTable)
	}
	t.GPT.Fit(d)
	return t.GPT.Write(d)
}

// Write puts both tables and the protective MBR on d: the backup first, so
// that one good table exists at every moment.
func (g *GPT) Write(d Disk) error {
	if err := g.check(d); err != nil {
		return err
	}
	sector, sectors := int64(g.sector), d.Size()/int64(g.sector)
	for _, p := range g.Partitions() {
		if p.Last > g.LastUsable {
			return fmt.Errorf("%w: partition %d ends in sector %d, where the backup table belongs (disk of %d sectors): "+
				"the disk is too small for the image",
				ErrTable, p.Number, p.Last, sectors)
		}
	}
	entriesEnd := g.entriesLBA + int64((len(g.entries)+g.sector-1)/g.sector)
	if g.FirstUsable < entriesEnd || g.LastUsable < g.FirstUsable {
		return fmt.Errorf("%w: a disk of %d sectors has no room for it", ErrTable, sectors)
	}
	copies := []struct{ lba, other, entries int64 }{
		{sectors - 1, 1, g.LastUsable + 1},
		{1, sectors - 1, g.entriesLBA},
	}
	for _, c := range copies {
		if err := writeAt(d, g.entries, c.entries*sector); err != nil {
			return err
		}
		if err := writeAt(d, g.header(c.lba, c.other, c.entries), c.lba*sector); err != nil {
			return err
		}
		if err := d.Flush(); err != nil {
			return fmt.Errorf("flush the partition table: %w", err)
		}
	}
	return writeProtectiveMBR(d)
}

// header renders a header for sector lba.
func (g *GPT) header(lba, other, entries int64) []byte {
	le := binary.LittleEndian
	b := make([]byte, g.sector)
	copy(b, gptMagic)
	le.PutUint32(b[8:], 1<<16) // revision 1.0
	le.PutUint32(b[12:], gptHeaderSize)
	le.PutUint64(b[24:], uint64(lba))
	le.PutUint64(b[32:], uint64(other))
	le.PutUint64(b[40:], uint64(g.FirstUsable))
	le.PutUint64(b[48:], uint64(g.LastUsable))
	copy(b[56:], g.DiskID[:])
	le.PutUint64(b[72:], uint64(entries))
	le.PutUint32(b[80:], uint32(g.count()))
	le.PutUint32(b[84:], uint32(g.entrySize))
	le.PutUint32(b[88:], crc32.ChecksumIEEE(g.entries))
	le.PutUint32(b[16:], crc32.ChecksumIEEE(b[:gptHeaderSize]))
	return b
}

// AddLast adds a partition of size bytes at the end of the usable room,
// aligned to a MiB, under the lowest free number. Nothing is written yet.
func (g *GPT) AddLast(size int64, kind GUID, name string, random io.Reader) (Partition, error) {
	sector := int64(g.sector)
	need := (size + sector - 1) / sector
	align := mib / sector
	return g.add((g.LastUsable+1-need)/align*align, need, kind, name, random)
}

// AddNext adds a partition of size bytes right behind the last one, aligned
// to a MiB, under the lowest free number. Nothing is written yet.
func (g *GPT) AddNext(size int64, kind GUID, name string, random io.Reader) (Partition, error) {
	sector := int64(g.sector)
	align := mib / sector
	first := (g.floor() + align - 1) / align * align
	need := (size + sector - 1) / sector
	if need == 0 || first+need-1 > g.LastUsable {
		return Partition{}, g.noRoom(size)
	}
	return g.add(first, need, kind, name, random)
}

// floor is the first sector behind all partitions.
func (g *GPT) floor() int64 {
	floor := g.FirstUsable
	for _, p := range g.Partitions() {
		floor = max(floor, p.Last+1)
	}
	return floor
}

func (g *GPT) noRoom(size int64) error {
	return fmt.Errorf("%w: no room for %d bytes behind the last partition: %d bytes are free there", ErrTable, size,
		max(0, g.LastUsable+1-g.floor())*int64(g.sector))
}

// add puts a partition of need sectors at first.
func (g *GPT) add(first, need int64, kind GUID, name string, random io.Reader) (Partition, error) {
	free := 0
	for n := g.count(); n >= 1; n-- {
		if isZero(g.entry(n)[:16]) {
			free = n
		}
	}
	switch {
	case free == 0:
		return Partition{}, fmt.Errorf("%w: all %d GPT entries are in use", ErrTable, g.count())
	case first < g.floor():
		return Partition{}, g.noRoom(need * int64(g.sector))
	}
	id, err := newGUID(random)
	if err != nil {
		return Partition{}, err
	}
	p := Partition{Number: free, Type: kind, ID: id, First: first, Last: first + need - 1, Name: name}
	return p, g.set(p)
}

// set stores an entry.
func (g *GPT) set(p Partition) error {
	units := utf16.Encode([]rune(p.Name))
	if len(units) > 36 {
		return errors.New("partition name of more than 36 characters")
	}
	le := binary.LittleEndian
	b := g.entry(p.Number)
	clear(b)
	copy(b, p.Type[:])
	copy(b[16:], p.ID[:])
	le.PutUint64(b[32:], uint64(p.First))
	le.PutUint64(b[40:], uint64(p.Last))
	le.PutUint64(b[48:], p.Attributes)
	for i, u := range units {
		le.PutUint16(b[56+2*i:], u)
	}
	return nil
}

// Remove frees the entry of a partition number.
func (g *GPT) Remove(number int) { clear(g.entry(number)) }

// isZero reports whether all bytes are zero: the first is zero, and each is like the
// one before it. bytes.Equal compares many at a time.
func isZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}
