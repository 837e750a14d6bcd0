package configdrive

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unicode/utf16"
)

const (
	fatCluster  = 4096 // bytes, on any sector size
	fatRootSize = 16 << 10
	fatDate     = (2000-1980)<<9 | 1<<5 | 1 // 2000-01-01: the same bytes each time
	fatDirAttr  = 0x10
	fatVolume   = 0x08
	fatLongName = 0x0f
	fat16From   = 4085 // clusters; fewer make a FAT12
)

// buildFAT makes a VFAT image of the files for disks of sectors of the given
// size: where they have 4096 bytes, Linux does not mount an ISO 9660, whose
// blocks have 2048.
func buildFAT(label string, files map[string][]byte, sector int) ([]byte, error) {
	if label == "" || len(label) > 11 {
		return nil, fmt.Errorf("%w: label %q: expected 1 to 11 characters", ErrInvalid, label)
	}
	if sector < 512 || sector > fatCluster || sector&(sector-1) != 0 {
		return nil, fmt.Errorf("%w: sectors of %d bytes", ErrInvalid, sector)
	}
	root, err := newTree(files)
	if err != nil {
		return nil, err
	}
	f := &fatImage{sector: sector, label: label, first: map[*entry]uint16{}}
	if err := f.layout(root); err != nil {
		return nil, err
	}
	return f.render(root), nil
}

// fatImage is a FAT12 or FAT16 being laid out: boot sector, two tables, root
// directory, clusters.
type fatImage struct {
	sector   int
	label    string
	first    map[*entry]uint16 // cluster of each file and directory
	chains   []uint16          // the table: next cluster, by cluster
	clusters int
}

// layout gives every file and directory its clusters, one after the other.
func (f *fatImage) layout(root *entry) error {
	f.chains = []uint16{0xfff8, 0xffff}
	if len(fatListing(root, nil)) > fatRootSize-32 {
		return fmt.Errorf("%w: too many files in the root of a VFAT", ErrInvalid)
	}
	for _, d := range root.directories() {
		for _, e := range d.children {
			n := len(e.content)
			if e.children != nil {
				n = len(fatListing(e, nil)) + 64 // with . and ..
			}
			if err := f.allocate(e, (n+fatCluster-1)/fatCluster); err != nil {
				return err
			}
		}
	}
	// Away from the number at which readers disagree whether it is a FAT12.
	f.clusters = len(f.chains) - 2 + 16
	if f.clusters > fat16From-32 && f.clusters < fat16From+32 {
		f.clusters = fat16From + 32
	}
	return nil
}

// allocate chains n clusters for an entry; an empty file has none.
func (f *fatImage) allocate(e *entry, n int) error {
	if n == 0 {
		return nil
	}
	if (len(f.chains)+n)*fatCluster > MaxSize-mibForTables {
		return tooLarge((len(f.chains) + n) * fatCluster)
	}
	f.first[e] = uint16(len(f.chains))
	for range n - 1 {
		f.chains = append(f.chains, uint16(len(f.chains)+1))
	}
	f.chains = append(f.chains, 0xffff)
	return nil
}

// mibForTables is what is kept for all that is not clusters.
const mibForTables = 1 << 20

// table renders the file allocation table.
func (f *fatImage) table() []byte {
	if f.clusters >= fat16From {
		b := make([]byte, (f.clusters+2)*2)
		for i, next := range f.chains {
			binary.LittleEndian.PutUint16(b[2*i:], next)
		}
		return b
	}
	b := make([]byte, (f.clusters+2)*3/2+2)
	for i, next := range f.chains {
		at := i + i/2
		v := binary.LittleEndian.Uint16(b[at:]) | next&0xfff<<(4*(i&1))
		binary.LittleEndian.PutUint16(b[at:], v)
	}
	return b
}

// render writes every part to its place.
func (f *fatImage) render(root *entry) []byte {
	table := f.table()
	fatSectors := (len(table) + f.sector - 1) / f.sector
	rootAt := (1 + 2*fatSectors) * f.sector
	dataAt := rootAt + fatRootSize
	b := make([]byte, dataAt+f.clusters*fatCluster)
	for i := range 2 {
		copy(b[(1+i*fatSectors)*f.sector:], table)
	}
	at := func(e *entry) []byte { return b[dataAt+(int(f.first[e])-2)*fatCluster:] }
	volume := fatRecord(fmt.Sprintf("%-11s", f.label), fatVolume, 0, 0)
	copy(b[rootAt:], append(volume, fatListing(root, f.first)...))
	for _, d := range root.directories() {
		if d != root {
			dots := fatRecord(".          ", fatDirAttr, f.first[d], 0)
			dots = append(dots, fatRecord("..         ", fatDirAttr, f.first[d.parent], 0)...)
			copy(at(d), append(dots, fatListing(d, f.first)...))
		}
		for _, e := range d.children {
			if len(e.content) > 0 {
				copy(at(e), e.content)
			}
		}
	}
	f.bootSector(b, fatSectors)
	return b
}

// bootSector describes the filesystem. The serial number stands for the
// content, so that the same files give the same bytes.
func (f *fatImage) bootSector(b []byte, fatSectors int) {
	le := binary.LittleEndian
	serial := crc32.ChecksumIEEE(b)
	copy(b, "\xeb\x3c\x90ferrite ")
	le.PutUint16(b[11:], uint16(f.sector))
	b[13] = byte(fatCluster / f.sector)
	le.PutUint16(b[14:], 1)
	b[16] = 2
	le.PutUint16(b[17:], fatRootSize/32)
	total := len(b) / f.sector
	if total < 1<<16 {
		le.PutUint16(b[19:], uint16(total))
	} else {
		le.PutUint32(b[32:], uint32(total))
	}
	b[21] = 0xf8
	le.PutUint16(b[22:], uint16(fatSectors))
	le.PutUint16(b[24:], 32)
	le.PutUint16(b[26:], 64)
	b[36], b[38] = 0x80, 0x29
	le.PutUint32(b[39:], serial)
	kind := "FAT12   "
	if f.clusters >= fat16From {
		kind = "FAT16   "
	}
	copy(b[43:], fmt.Sprintf("%-11s%s", f.label, kind))
	b[510], b[511] = 0x55, 0xaa
}

// fatListing renders a directory's children, each with its long name.
func fatListing(d *entry, first map[*entry]uint16) []byte {
	var b []byte
	for i, e := range d.children {
		short := fmt.Sprintf("F%07X   ", i) // only long names are meant to be read
		attr := byte(0x01)
		if e.children != nil {
			attr = fatDirAttr
		}
		b = append(b, fatLongNames(e.name, short)...)
		b = append(b, fatRecord(short, attr, first[e], len(e.content))...)
	}
	return b
}

// fatRecord is a directory entry.
func fatRecord(name string, attr byte, first uint16, size int) []byte {
	le := binary.LittleEndian
	b := make([]byte, 32)
	copy(b, name)
	b[11] = attr
	for _, at := range []int{16, 18, 24} { // made, read, written
		le.PutUint16(b[at:], fatDate)
	}
	le.PutUint16(b[26:], first)
	le.PutUint32(b[28:], uint32(size))
	return b
}

// fatLongNames are the entries that carry a long name, the last part first,
// bound to the short name by its checksum.
func fatLongNames(name, short string) []byte {
	var sum byte
	for _, c := range []byte(short) {
		sum = sum<<7 | sum>>1
		sum += c
	}
	units := append(utf16.Encode([]rune(name)), 0)
	for len(units)%13 != 0 {
		units = append(units, 0xffff)
	}
	if len(units) > 13 && units[len(units)-13] == 0 { // the name fills its entries: no terminator
		units = units[:len(units)-13]
	}
	var b []byte
	for part := len(units) / 13; part > 0; part-- {
		e := make([]byte, 32)
		e[0], e[11], e[13] = byte(part), fatLongName, sum
		if part == len(units)/13 {
			e[0] |= 0x40
		}
		for i, u := range units[(part-1)*13 : part*13] {
			at := 1 + 2*i
			if i >= 5 {
				at = 14 + 2*(i-5)
			}
			if i >= 11 {
				at = 28 + 2*(i-11)
			}
			binary.LittleEndian.PutUint16(e[at:], u)
		}
		b = append(b, e...)
	}
	return b
}

// BuildFAT makes a config drive of the files that Linux mounts from a disk of
// sectors of the given size.
func BuildFAT(files map[string][]byte, sector int) ([]byte, error) {
	return buildFAT(Label, files, sector)
}

// ForSector returns a config drive that Linux mounts from a disk of sectors
// of the given size: the image itself, or a VFAT made of its files where it is
// an ISO 9660 and its blocks are smaller than the sectors.
func ForSector(image []byte, sector int) ([]byte, error) {
	if isFAT(image) {
		if has := int(binary.LittleEndian.Uint16(image[11:])); has < sector {
			return nil, fmt.Errorf("%w: it is a VFAT of sectors of %d bytes, which cannot be mounted on a disk of sectors of %d", ErrInvalid, has, sector)
		}
	}
	if sector <= sectorSize || !isISO(image) {
		return image, nil
	}
	files, err := read(image)
	if err != nil {
		return nil, err
	}
	return buildFAT(Label, files, sector)
}
