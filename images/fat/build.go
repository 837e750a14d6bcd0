package fat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	buildCluster = 4096     // bytes, on any sector size
	buildRoot    = 16 << 10 // bytes of the root directory
	buildTables  = 1 << 20  // bytes at most of all that is not clusters
	endOfChain   = 0xffff   // in a table of 16 bits
	labelSize    = 11       // characters
	spare        = 16       // free clusters
	disputed     = 32       // clusters either side of fat16From that readers disagree about
)

// File is a file or, when Children is not nil, a directory.
type File struct {
	Name     string
	Content  []byte
	Children []*File
}

// TooLargeError says that files do not fit into the size that was allowed.
type TooLargeError struct{ Size int }

func (e TooLargeError) Error() string { return fmt.Sprintf("a VFAT of %d bytes is too large", e.Size) }

// Build makes a FAT12 or FAT16 of the root's children, of at most so many bytes,
// for a disk of sectors of the given size. The same files in the same order give
// the same bytes. Each file has a long name: its short name is only a number.
func Build(label string, root *File, sector, most int) ([]byte, error) {
	if label == "" || len(label) > labelSize {
		return nil, fmt.Errorf("label %q: expected 1 to %d characters", label, labelSize)
	}
	if sector < 512 || sector > buildCluster || sector&(sector-1) != 0 {
		return nil, fmt.Errorf("sectors of %d bytes", sector)
	}
	f := &image{
		sector: sector, label: fmt.Sprintf("%-*s", labelSize, label),
		most: min(most, fat32From*buildCluster), first: map[*File]uint16{},
	}
	if err := f.layout(root); err != nil {
		return nil, err
	}
	return f.render(root), nil
}

// image is a FAT12 or FAT16 being laid out: boot sector, two tables, root
// directory, clusters.
type image struct {
	sector   int
	label    string // of 11 characters
	most     int    // bytes
	first    map[*File]uint16
	chains   []uint16 // the table: the next cluster of each
	clusters int
}

// layout gives every file and directory its clusters, one after the other.
func (f *image) layout(root *File) error {
	f.chains = []uint16{0xff00 | media, endOfChain}
	if len(f.listing(root)) > buildRoot-recordSize {
		return errors.New("too many files in the root of a VFAT")
	}
	for _, d := range directories(root) {
		for _, e := range d.file.Children {
			n := len(e.Content)
			if e.Children != nil {
				n = len(f.listing(e)) + 2*recordSize // with . and ..
			}
			if err := f.allocate(e, (n+buildCluster-1)/buildCluster); err != nil {
				return err
			}
		}
	}
	f.clusters = len(f.chains) - 2 + spare
	if f.clusters > fat16From-disputed && f.clusters < fat16From+disputed {
		f.clusters = fat16From + disputed
	}
	return nil
}

// allocate chains n clusters for a file. An empty file has none.
func (f *image) allocate(e *File, n int) error {
	if n == 0 {
		return nil
	}
	if size := (len(f.chains) + n) * buildCluster; size > f.most-buildTables {
		return TooLargeError{size}
	}
	f.first[e] = uint16(len(f.chains))
	for range n - 1 {
		f.chains = append(f.chains, uint16(len(f.chains)+1))
	}
	f.chains = append(f.chains, endOfChain)
	return nil
}

// table renders the file allocation table.
func (f *image) table() []byte {
	if bitsOf(int64(f.clusters)) == 16 {
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

// render writes every part to its place. The serial number is a checksum of the
// content, so that the same files give the same bytes.
func (f *image) render(root *File) []byte {
	table := f.table()
	perTable := (len(table) + f.sector - 1) / f.sector
	rootAt := (1 + tableCount*perTable) * f.sector
	dataAt := rootAt + buildRoot
	b := make([]byte, dataAt+f.clusters*buildCluster)
	for i := range tableCount {
		copy(b[(1+i*perTable)*f.sector:], table)
	}
	at := func(e *File) []byte { return b[dataAt+(int(f.first[e])-2)*buildCluster:] }
	copy(b[rootAt:], append(record(f.label, attrVolume, 0, 0), f.listing(root)...))
	for _, d := range directories(root) {
		if d.file != root {
			dots := record(".          ", attrDirectory, f.first[d.file], 0)
			dots = append(dots, record("..         ", attrDirectory, f.first[d.parent], 0)...)
			copy(at(d.file), append(dots, f.listing(d.file)...))
		}
		for _, e := range d.file.Children {
			if len(e.Content) > 0 {
				copy(at(e), e.Content)
			}
		}
	}
	s := bootSector{
		sector: int64(f.sector), perCluster: int64(buildCluster / f.sector), reserved: 1,
		rootEntries: buildRoot / recordSize, total: int64(len(b) / f.sector), perTable: int64(perTable), label: f.label,
	}
	binary.LittleEndian.PutUint32(s.serial[:], crc32.ChecksumIEEE(b))
	copy(b, s.fixedRoot(bitsOf(int64(f.clusters))))
	return b
}
