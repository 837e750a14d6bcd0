package iso

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Boot names the files by which firmware starts an image. At least one of BIOS and UEFI is given.
type Boot struct {
	// BIOS is the path of a loader of ISOLINUX's kind: loaded as it is ("no emulation"), with a
	// boot information table at its bytes 8 to 63.
	BIOS string
	// UEFI is the path of the image of an EFI system partition (FAT).
	UEFI string
	// MBR is the code of a boot sector that starts BIOS from a disk or USB stick, as ISOLINUX has
	// it in isohdpfx.bin (432 bytes); nil: the image starts from optical drives alone.
	MBR []byte
}

const (
	entrySize   = 32  // of the boot catalog
	diskSector  = 512 // of disks; El Torito and partition tables count in them
	perSector   = SectorSize / diskSector
	mbrCode     = 432     // bytes of code before the place of the loader
	maxLoader   = 1 << 20 // bytes of a BIOS loader; ISOLINUX has 40,000
	tableStart  = 8       // of the boot information table
	tableEnd    = 64
	platformPC  = 0x00
	platformEFI = 0xef
	bootable    = 0x88
)

// makeBootable adds the boot record, the boot catalog and the boot sector in front of the files, and writes the BIOS
// loader's place into it.
func (m *plan) makeBootable(head []byte, out *Image) error {
	bios, err := m.bootFile(m.boot.BIOS)
	if err != nil {
		return err
	}
	uefi, err := m.bootFile(m.boot.UEFI)
	if err != nil {
		return err
	}
	if bios == nil && uefi == nil {
		return fmt.Errorf("%w: it is to boot, and names a loader neither for BIOS nor for UEFI", ErrInvalid)
	}
	if bios != nil {
		if err := m.addTable(bios, out); err != nil {
			return err
		}
	}
	record := head[17*SectorSize:]
	copy(record, "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(record[71:], uint32(m.catalog))
	copy(head[m.catalog*SectorSize:], catalog(bios, uefi))
	if m.boot.MBR != nil {
		return m.bootSector(head[:diskSector], bios, uefi)
	}
	return nil
}

// bootFile finds a file of the volume; nil for "".
func (m *plan) bootFile(name string) (*Entry, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no file is no mistake
	}
	e := m.root.find(name)
	if e == nil || e.Children != nil {
		return nil, fmt.Errorf("%w: its boot file %s is not among its files", ErrInvalid, name)
	}
	return e, nil
}

// catalog is El Torito's boot catalog (section 2.1 to 2.5): a validation entry, the BIOS loader as
// the default, UEFI's in a section of its own. Without a BIOS loader UEFI's is the default.
func catalog(bios, uefi *Entry) []byte {
	b := make([]byte, 4*entrySize)
	platform, first := byte(platformPC), bios
	if bios == nil {
		platform, first, uefi = platformEFI, uefi, nil
	}
	b[0], b[1], b[30], b[31] = 1, platform, 0x55, 0xaa
	binary.LittleEndian.PutUint16(b[28:], -sum16(b[:entrySize]))
	startOf(b[entrySize:], first, bios != nil)
	if uefi != nil {
		b[2*entrySize], b[2*entrySize+1] = 0x91, platformEFI // the last header
		b[2*entrySize+2] = 1                                 // one entry
		startOf(b[3*entrySize:], uefi, false)
	}
	return b
}

// startOf is an entry of the catalog. A BIOS loads four sectors, which load the rest; UEFI takes the
// count for the size of the partition, of which 16 bits are all there is.
func startOf(b []byte, e *Entry, loads4 bool) {
	count := min(sectors(e.Content.Size)*perSector, 0xffff)
	if loads4 {
		count = 4
	}
	b[0] = bootable
	binary.LittleEndian.PutUint16(b[6:], uint16(count))
	binary.LittleEndian.PutUint32(b[8:], uint32(e.sector[plain]))
}

func sum16(b []byte) (sum uint16) {
	for i := 0; i < len(b); i += 2 {
		sum += binary.LittleEndian.Uint16(b[i:])
	}
	return sum
}

// addTable replaces a BIOS loader by one with its boot information table: where the volume
// descriptor and the loader are, its length, and the sum of its words from byte 64 on.
func (m *plan) addTable(bios *Entry, out *Image) error {
	if bios.Content.Size < tableEnd || bios.Content.Size > maxLoader {
		return fmt.Errorf("%w: the BIOS loader %s has %d bytes, expected %d to %d", ErrInvalid, bios.Name, bios.Content.Size,
			tableEnd, maxLoader)
	}
	b := make([]byte, bios.Content.Size)
	if _, err := bios.Content.At.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: read the BIOS loader %s: %w", ErrInvalid, bios.Name, err)
	}
	padded := append(append([]byte{}, b...), make([]byte, -len(b)&3)...)
	sum := uint32(0)
	for i := tableEnd; i < len(padded); i += 4 {
		sum += binary.LittleEndian.Uint32(padded[i:])
	}
	clear(b[tableStart:tableEnd])
	for i, v := range []uint32{16, uint32(bios.sector[plain]), uint32(len(b)), sum} {
		binary.LittleEndian.PutUint32(b[tableStart+4*i:], v)
	}
	for i := range out.parts {
		if out.parts[i].off == bios.sector[plain]*SectorSize {
			out.parts[i].Content = Bytes(b)
		}
	}
	return nil
}

// bootSector makes the image start from a disk: the code finds the BIOS loader by its place, UEFI
// the EFI system partition in the partition table. The first partition is empty, since firmware
// refuses a table of partitions that overlap; some BIOSes start no disk without an active one.
func (m *plan) bootSector(b []byte, bios, uefi *Entry) error {
	if bios == nil || len(m.boot.MBR) != mbrCode {
		return fmt.Errorf("%w: a boot sector needs a BIOS loader and %d bytes of code, found %d", ErrInvalid, mbrCode,
			len(m.boot.MBR))
	}
	copy(b, m.boot.MBR)
	binary.LittleEndian.PutUint64(b[mbrCode:], uint64(bios.sector[plain]*perSector))
	copy(b[440:], "FRRT") // the disk's signature, which no two disks of a machine share
	partition(b[446:], 0x80, 0x00, 0, m.end*perSector)
	if uefi != nil {
		partition(b[462:], 0x00, 0xef, uefi.sector[plain]*perSector, sectors(uefi.Content.Size)*perSector)
	}
	b[510], b[511] = 0x55, 0xaa
	return nil
}

// partition is an entry of a partition table. Its cylinders say "see the sector numbers".
func partition(b []byte, status, kind byte, start, size int64) {
	copy(b, []byte{status, 0xfe, 0xff, 0xff, kind, 0xfe, 0xff, 0xff})
	binary.LittleEndian.PutUint32(b[8:], uint32(start))
	binary.LittleEndian.PutUint32(b[12:], uint32(min(size, 1<<32-1)))
}
