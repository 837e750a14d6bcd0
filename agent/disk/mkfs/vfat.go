package mkfs

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Places in a FAT32 as all tools make it (Microsoft's FAT specification,
// section 3).
const (
	fatReserved = 32 // sectors before the tables
	fatInfo     = 1
	fatBackup   = 6 // of boot sector and FSInfo
	fatTables   = 2
	fatMedia    = 0xf8
	fatUnnamed  = "NO NAME"
	fatLabel    = 11         // bytes
	fat32From   = 65525      // clusters; fewer are read as FAT16
	fat32To     = 1<<28 - 16 // more do not fit into 28 bits
)

// fat is a FAT32 being laid out.
type fat struct {
	sector     int64
	perCluster int64  // sectors
	sectors    uint32 // of all
	perTable   uint32 // sectors
	clusters   uint32
	label      string // of 11 characters
	serial     [4]byte
}

// makeFAT makes a FAT32, as every EFI system partition is one.
func makeFAT(p Partition, label string, random io.Reader) error {
	f, err := planFAT(p, label)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(random, f.serial[:]); err != nil {
		return fmt.Errorf("make a serial number: %w", err)
	}
	start := fatReserved + fatTables*int64(f.perTable)
	if err := p.Zero(0, (start+f.perCluster)*f.sector); err != nil {
		return fmt.Errorf("zero its tables: %w", err)
	}
	for _, w := range []struct {
		at    int64 // sector
		bytes []byte
	}{
		{fatReserved, f.table()},
		{fatReserved + int64(f.perTable), f.table()},
		{start, f.root()},
		{fatBackup + fatInfo, f.info()},
		{fatBackup, f.boot()},
		{fatInfo, f.info()},
		{0, f.boot()}, // last: until then it is no file system
	} {
		if err := writeAt(p, w.bytes, w.at*f.sector); err != nil {
			return err
		}
	}
	return nil
}

func fitsFAT(p Partition, label string) error {
	_, err := planFAT(p, label)
	return err
}

// planFAT decides sizes. It is pure.
func planFAT(p Partition, label string) (*fat, error) {
	if err := labelFits(label, fatLabel); err != nil {
		return nil, err
	}
	if !utf8.ValidString(label) {
		return nil, fmt.Errorf("label %q is no UTF-8", label)
	}
	if label == "" {
		label = fatUnnamed
	}
	f := &fat{sector: int64(p.LogicalSectorSize()), label: fmt.Sprintf("%-*s", fatLabel, label)}
	sectors := p.Size() / f.sector
	if sectors >= 1<<32 {
		return nil, fmt.Errorf("%d bytes are more than a FAT32 on sectors of %d bytes can have", p.Size(), f.sector)
	}
	f.sectors = uint32(sectors)
	f.perCluster = max(1, clusterFor(p.Size())/f.sector)
	// Each cluster has four bytes in each table (the specification's section 3.5).
	entries := f.sector / 4
	data := sectors - fatReserved
	f.perTable = uint32((data + 2*f.perCluster + entries*f.perCluster + fatTables - 1) / (entries*f.perCluster + fatTables))
	f.clusters = uint32((data - fatTables*int64(f.perTable)) / f.perCluster)
	if data <= 0 || f.clusters < fat32From || f.clusters > fat32To {
		return nil, fmt.Errorf("%d bytes give %d clusters, expected %d to %d", p.Size(), f.clusters, fat32From, fat32To)
	}
	return f, nil
}

// clusterFor is the size of clusters by the size of the file system, bytes, as
// mkfs.fat has it.
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

// boot is the boot sector. Who starts it is told that there is nothing to.
func (f *fat) boot() []byte {
	le := binary.LittleEndian
	b := make([]byte, 512)
	copy(b, "\xeb\x58\x90ferrite ")
	copy(b[90:], "\xf4\xeb\xfd") // hlt, again
	le.PutUint16(b[11:], uint16(f.sector))
	b[13] = byte(f.perCluster)
	le.PutUint16(b[14:], fatReserved)
	b[16] = fatTables
	b[21] = fatMedia
	le.PutUint16(b[24:], 63)  // sectors of a track and
	le.PutUint16(b[26:], 255) // heads, of nobody's use
	le.PutUint32(b[32:], f.sectors)
	le.PutUint32(b[36:], f.perTable)
	le.PutUint32(b[44:], 2) // the root's cluster
	le.PutUint16(b[48:], fatInfo)
	le.PutUint16(b[50:], fatBackup)
	b[64], b[66] = 0x80, 0x29
	copy(b[67:], f.serial[:])
	copy(b[71:], f.label)
	copy(b[82:], "FAT32   ")
	b[510], b[511] = 0x55, 0xaa
	return b
}

// info is the FSInfo sector: how much is free, and from where.
func (f *fat) info() []byte {
	le := binary.LittleEndian
	b := make([]byte, 512)
	copy(b, "RRaA")
	copy(b[484:], "rrAa")
	le.PutUint32(b[488:], f.clusters-1)
	le.PutUint32(b[492:], 2)
	b[510], b[511] = 0x55, 0xaa
	return b
}

// table is the beginning of a table: two entries that mean nothing, and the
// root's only cluster.
func (f *fat) table() []byte {
	le := binary.LittleEndian
	b := make([]byte, 12)
	le.PutUint32(b, 0x0fffff00|fatMedia)
	le.PutUint32(b[4:], 0x0fffffff)
	le.PutUint32(b[8:], 0x0fffffff)
	return b
}

// root is the root directory: the label, as the specification wants it in both
// places.
func (f *fat) root() []byte {
	const volume = 0x08
	b := make([]byte, 32)
	if strings.TrimSpace(f.label) != fatUnnamed {
		copy(b, f.label)
		b[11] = volume
		binary.LittleEndian.PutUint16(b[24:], 1<<5|1) // 1980-01-01: a ramdisk's clock may be anything
	}
	return b
}
