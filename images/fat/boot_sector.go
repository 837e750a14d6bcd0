package fat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	media      = 0xf8 // a disk that is not removed
	tableCount = 2    // of the file systems made here
)

// bootSector is the first sector of a file system (sections 3.1 to 3.3).
type bootSector struct {
	sector      int64  // bytes
	perCluster  int64  // sectors
	reserved    int64  // sectors before the tables
	tables      int64  // copies of the table
	perTable    int64  // sectors
	rootEntries int64  // of the fixed root directory of FAT12 and FAT16
	total       int64  // sectors
	rootCluster uint32 // of FAT32

	serial [4]byte
	label  string // of 11 characters
}

// readBootSector reads the boot sector and refuses sectors of other file systems.
func readBootSector(r io.ReaderAt) (s bootSector, err error) {
	b, err := readAt(r, 0, 512)
	if err != nil {
		return s, err
	}
	le := binary.LittleEndian
	s = bootSector{
		sector: int64(le.Uint16(b[11:])), perCluster: int64(b[13]), reserved: int64(le.Uint16(b[14:])),
		tables: int64(b[16]), rootEntries: int64(le.Uint16(b[17:])), total: int64(le.Uint16(b[19:])),
		perTable: int64(le.Uint16(b[22:])), rootCluster: le.Uint32(b[44:]),
	}
	if s.total == 0 {
		s.total = int64(le.Uint32(b[32:]))
	}
	if s.perTable == 0 {
		s.perTable = int64(le.Uint32(b[36:]))
	}
	if s.sector < 512 || s.sector > 4096 || s.sector&(s.sector-1) != 0 ||
		s.perCluster == 0 || s.perCluster&(s.perCluster-1) != 0 ||
		s.reserved == 0 || s.tables == 0 || s.perTable == 0 || b[510] != 0x55 || b[511] != 0xaa {
		return s, fmt.Errorf("%w: boot sector is not one of FAT", ErrInvalid)
	}
	return s, nil
}

// common renders the fields that all three kinds have in one place.
func (s bootSector) common() []byte {
	le := binary.LittleEndian
	b := make([]byte, 512)
	le.PutUint16(b[11:], uint16(s.sector))
	b[13] = byte(s.perCluster)
	le.PutUint16(b[14:], uint16(s.reserved))
	b[16] = tableCount
	b[21] = media
	b[510], b[511] = 0x55, 0xaa
	return b
}

// fixedRoot renders the boot sector of a FAT12 or FAT16.
func (s bootSector) fixedRoot(bits int) []byte {
	le := binary.LittleEndian
	b := s.common()
	copy(b, "\xeb\x3c\x90ferrite ")
	le.PutUint16(b[17:], uint16(s.rootEntries))
	if s.total < 1<<16 {
		le.PutUint16(b[19:], uint16(s.total))
	} else {
		le.PutUint32(b[32:], uint32(s.total))
	}
	le.PutUint16(b[22:], uint16(s.perTable))
	le.PutUint16(b[24:], 32) // sectors of a track
	le.PutUint16(b[26:], 64) // heads
	b[36], b[38] = 0x80, 0x29
	copy(b[39:], s.serial[:])
	copy(b[43:], s.label)
	copy(b[54:], fmt.Sprintf("FAT%d   ", bits))
	return b
}

// fat32 renders the boot sector of a FAT32. Its code halts: a machine that
// starts it by mistake finds nothing to boot.
func (s bootSector) fat32() []byte {
	le := binary.LittleEndian
	b := s.common()
	copy(b, "\xeb\x58\x90ferrite ")
	copy(b[90:], "\xf4\xeb\xfd") // hlt, again
	le.PutUint16(b[24:], 63)     // sectors of a track and
	le.PutUint16(b[26:], 255)    // heads, which nothing uses
	le.PutUint32(b[32:], uint32(s.total))
	le.PutUint32(b[36:], uint32(s.perTable))
	le.PutUint32(b[44:], s.rootCluster)
	le.PutUint16(b[48:], infoSector)
	le.PutUint16(b[50:], backupSector)
	b[64], b[66] = 0x80, 0x29
	copy(b[67:], s.serial[:])
	copy(b[71:], s.label)
	copy(b[82:], "FAT32   ")
	return b
}

// readAt reads n bytes at off, which must lie in the file system.
func readAt(r io.ReaderAt, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := r.ReadAt(b, off)
	if got == n {
		return b, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("read %d bytes at %d: %w", n, off, err)
}
