package fat

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Places in a FAT32 as all tools make it (section 3.3).
const (
	formatReserved = 32 // sectors before the tables
	infoSector     = 1
	backupSector   = 6 // of boot sector and FSInfo
	unnamed        = "NO NAME"
	fat32To        = 1<<28 - 16 // clusters; more do not fit into 28 bits
	formatDate     = 1<<5 | 1   // 1980-01-01: a ramdisk's clock may be anything
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

// Format makes an empty FAT32 on a partition, with a serial number from random.
func Format(p Partition, label string, random io.Reader) error {
	f, err := planFormat(p, label)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(random, f.serial[:]); err != nil {
		return fmt.Errorf("make a serial number: %w", err)
	}
	start := formatReserved + tableCount*f.perTable
	if err := p.Zero(0, (start+f.perCluster)*f.sector); err != nil {
		return fmt.Errorf("zero its tables: %w", err)
	}
	for _, w := range []struct {
		at    int64 // sector
		bytes []byte
	}{
		{formatReserved, f.table()},
		{formatReserved + f.perTable, f.table()},
		{start, f.rootDirectory()},
		{backupSector + infoSector, f.info()},
		{backupSector, f.fat32()},
		{infoSector, f.info()},
		{0, f.fat32()}, // last: until then it is no file system
	} {
		if err := writeSectors(p, w.bytes, w.at*f.sector); err != nil {
			return err
		}
	}
	return nil
}

// Fits refuses a partition or a label that Format cannot use. It writes nothing.
func Fits(p Partition, label string) error {
	_, err := planFormat(p, label)
	return err
}

// format is a FAT32 being laid out.
type format struct {
	bootSector
	clusters int64
}

// planFormat decides sizes. It is pure.
func planFormat(p Partition, label string) (*format, error) {
	if len(label) > labelSize {
		return nil, fmt.Errorf("label %q has %d bytes, expected at most %d", label, len(label), labelSize)
	}
	if !utf8.ValidString(label) {
		return nil, fmt.Errorf("label %q is no UTF-8", label)
	}
	if label == "" {
		label = unnamed
	}
	sector := int64(p.LogicalSectorSize())
	sectors := p.Size() / sector
	if sectors >= 1<<32 {
		return nil, fmt.Errorf("%d bytes are more than a FAT32 on sectors of %d bytes can have", p.Size(), sector)
	}
	f := &format{bootSector: bootSector{
		sector: sector, perCluster: max(1, clusterFor(p.Size())/sector), reserved: formatReserved, total: sectors,
		rootCluster: 2, label: fmt.Sprintf("%-*s", labelSize, label),
	}}
	// Each cluster has four bytes in each table (section 3.5).
	entries := sector / 4
	data := sectors - formatReserved
	each := entries*f.perCluster + tableCount // sectors of data that one sector of each table serves
	f.perTable = (data + 2*f.perCluster + each - 1) / each
	f.clusters = (data - tableCount*f.perTable) / f.perCluster
	if data <= 0 || f.clusters < fat32From || f.clusters > fat32To {
		return nil, fmt.Errorf("%d bytes give %d clusters, expected %d to %d", p.Size(), f.clusters, fat32From, fat32To)
	}
	return f, nil
}

// clusterFor is the size of clusters in bytes for a size of the file system, the
// same as mkfs.fat chooses.
func clusterFor(size int64) int64 {
	const kib, gib = 1 << 10, 1 << 30
	switch {
	case size <= gib/4:
		return 512
	case size <= 8*gib:
		return 4 * kib
	case size <= 16*gib:
		return 8 * kib
	case size <= 32*gib:
		return 16 * kib
	}
	return 32 * kib
}

// info is the FSInfo sector: how much is free, and from where.
func (f *format) info() []byte {
	le := binary.LittleEndian
	b := make([]byte, 512)
	copy(b, "RRaA")
	copy(b[484:], "rrAa")
	le.PutUint32(b[488:], uint32(f.clusters)-1)
	le.PutUint32(b[492:], 2)
	b[510], b[511] = 0x55, 0xaa
	return b
}

// table is the beginning of a table: two reserved entries, and the root's only
// cluster.
func (f *format) table() []byte {
	le := binary.LittleEndian
	b := make([]byte, 12)
	le.PutUint32(b, 0x0fffff00|media)
	le.PutUint32(b[4:], 0x0fffffff)
	le.PutUint32(b[8:], 0x0fffffff)
	return b
}

// rootDirectory has the label, which the specification wants here and in the
// boot sector.
func (f *format) rootDirectory() []byte {
	b := make([]byte, recordSize)
	if strings.TrimSpace(f.label) != unnamed {
		copy(b, f.label)
		b[11] = attrVolume
		binary.LittleEndian.PutUint16(b[24:], formatDate)
	}
	return b
}

// writeSectors writes b at off, filled up with zeroes to a whole sector.
func writeSectors(p Partition, b []byte, off int64) error {
	if extra := len(b) % p.LogicalSectorSize(); extra != 0 {
		b = append(b[:len(b):len(b)], make([]byte, p.LogicalSectorSize()-extra)...)
	}
	if _, err := p.WriteAt(b, off); err != nil {
		return fmt.Errorf("write %d bytes at %d: %w", len(b), off, err)
	}
	return nil
}
