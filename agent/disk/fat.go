package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf16"
)

// ErrFAT is wrapped when a FAT filesystem cannot be read.
var ErrFAT = errors.New("FAT filesystem")

const (
	fatMaxDir  = 4 << 20 // bytes of one directory we are willing to read
	fatDirAttr = 0x10
	fatVolume  = 0x08
	fatLong    = 0x0f
)

// FAT reads a FAT12, FAT16 or FAT32 filesystem, as every EFI system partition
// is one. It never writes.
type FAT struct {
	r           io.ReaderAt
	bits        int // 12, 16 or 32
	clusterSize int64
	clusters    uint32 // numbered from 2
	fat         int64  // offsets in the filesystem, bytes
	root        int64  // of FAT12's and FAT16's fixed root directory
	rootSize    int64
	rootCluster uint32 // of FAT32
	data        int64
}

// FATEntry is a file or directory.
type FATEntry struct {
	Name  string
	IsDir bool
	Size  int64
	first uint32
}

// OpenFAT reads the boot sector of the filesystem on r (Microsoft's FAT
// specification, section 3).
func OpenFAT(r io.ReaderAt) (*FAT, error) {
	b, err := readAt(r, 0, 512)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	sector, perCluster := int64(le.Uint16(b[11:])), int64(b[13])
	reserved, fats, rootEntries := int64(le.Uint16(b[14:])), int64(b[16]), int64(le.Uint16(b[17:]))
	total, fatSectors := int64(le.Uint16(b[19:])), int64(le.Uint16(b[22:]))
	if total == 0 {
		total = int64(le.Uint32(b[32:]))
	}
	if fatSectors == 0 {
		fatSectors = int64(le.Uint32(b[36:]))
	}
	if sector < 512 || sector > 4096 || sector&(sector-1) != 0 || perCluster == 0 || perCluster&(perCluster-1) != 0 ||
		reserved == 0 || fats == 0 || fatSectors == 0 || b[510] != 0x55 || b[511] != 0xaa {
		return nil, fmt.Errorf("%w: boot sector is not one of FAT", ErrFAT)
	}
	f := &FAT{r: r, clusterSize: sector * perCluster, fat: reserved * sector, rootSize: rootEntries * 32, rootCluster: le.Uint32(b[44:])}
	f.root = f.fat + fats*fatSectors*sector
	f.data = (f.root + f.rootSize + sector - 1) / sector * sector
	clusters := (total*sector - f.data) / f.clusterSize
	if clusters < 1 || clusters > 1<<28 {
		return nil, fmt.Errorf("%w: it has %d clusters", ErrFAT, clusters)
	}
	f.clusters = uint32(clusters)
	switch { // the number of clusters alone tells the kind
	case clusters < 4085:
		f.bits = 12
	case clusters < 65525:
		f.bits = 16
	default:
		f.bits = 32
	}
	if (clusters+2)*int64(f.bits)/8 > fatSectors*sector {
		return nil, fmt.Errorf("%w: its table of %d sectors is too small for %d clusters", ErrFAT, fatSectors, clusters)
	}
	return f, nil
}

// next follows the chain from a cluster; ok is false at its end.
func (f *FAT) next(cluster uint32) (next uint32, ok bool, err error) {
	le := binary.LittleEndian
	var width int
	var at int64
	switch f.bits {
	case 12:
		width, at = 2, int64(cluster)+int64(cluster)/2
	case 16:
		width, at = 2, int64(cluster)*2
	default:
		width, at = 4, int64(cluster)*4
	}
	b, err := readAt(f.r, f.fat+at, width)
	if err != nil {
		return 0, false, err
	}
	switch f.bits {
	case 12:
		next = uint32(le.Uint16(b)) >> (4 * (cluster & 1)) & 0xfff
	case 16:
		next = uint32(le.Uint16(b))
	default:
		next = le.Uint32(b) & 0x0fffffff
	}
	end := uint32(1)<<f.bits - 8
	if f.bits == 32 {
		end = 0x0ffffff8
	}
	if next >= end {
		return 0, false, nil
	}
	return next, true, f.valid(next)
}

// valid refuses a cluster number outside the filesystem.
func (f *FAT) valid(cluster uint32) error {
	if cluster < 2 || cluster-2 >= f.clusters {
		return fmt.Errorf("%w: cluster %d is outside its %d clusters", ErrFAT, cluster, f.clusters)
	}
	return nil
}

// chain reads the clusters from first, up to limit bytes.
func (f *FAT) chain(first uint32, limit int64) ([]byte, error) {
	if err := f.valid(first); err != nil {
		return nil, err
	}
	var out []byte
	for cluster, ok := first, true; ok && int64(len(out)) < limit; {
		b, err := readAt(f.r, f.data+int64(cluster-2)*f.clusterSize, int(min(f.clusterSize, limit-int64(len(out)))))
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
		if cluster, ok, err = f.next(cluster); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rootEntry stands for the root directory.
func rootEntry() FATEntry { return FATEntry{IsDir: true} }

// list reads a directory.
func (f *FAT) list(dir FATEntry) ([]FATEntry, error) {
	var b []byte
	var err error
	switch {
	case dir.first == 0 && f.bits == 32:
		b, err = f.chain(f.rootCluster, fatMaxDir)
	case dir.first == 0:
		b, err = readAt(f.r, f.root, int(f.rootSize))
	default:
		b, err = f.chain(dir.first, fatMaxDir)
	}
	if err != nil {
		return nil, err
	}
	return parseFATDir(b), nil
}

// parseFATDir reads directory entries, joining long names (the
// specification's section 7). It is pure.
func parseFATDir(b []byte) []FATEntry {
	le := binary.LittleEndian
	var out []FATEntry
	var long []uint16
	for ; len(b) >= 32 && b[0] != 0; b = b[32:] {
		attr := b[11]
		switch {
		case b[0] == 0xe5:
			long = nil
		case attr&0x3f == fatLong:
			if b[0]&0x40 != 0 {
				long = nil
			}
			long = append(longNamePart(b), long...) // the last part comes first
		case attr&fatVolume != 0:
			long = nil
		default:
			e := FATEntry{
				Name: shortName(b), IsDir: attr&fatDirAttr != 0, Size: int64(le.Uint32(b[28:])),
				first: uint32(le.Uint16(b[20:]))<<16 | uint32(le.Uint16(b[26:])),
			}
			if len(long) > 0 {
				e.Name = string(utf16.Decode(long))
			}
			long = nil
			if e.Name != "." && e.Name != ".." {
				out = append(out, e)
			}
		}
	}
	return out
}

// longNamePart reads the up to 13 characters of a long-name entry.
func longNamePart(b []byte) []uint16 {
	var out []uint16
	for _, span := range [][2]int{{1, 11}, {14, 26}, {28, 32}} {
		for i := span[0]; i < span[1]; i += 2 {
			c := binary.LittleEndian.Uint16(b[i:])
			if c == 0 {
				return out
			}
			out = append(out, c)
		}
	}
	return out
}

// shortName reads an 8.3 name. Two bits of byte 12 say that the name or its
// extension is in small letters (Windows NT and Linux write them).
func shortName(b []byte) string {
	name, ext := strings.TrimRight(string(b[:8]), " "), strings.TrimRight(string(b[8:11]), " ")
	if b[12]&0x08 != 0 {
		name = strings.ToLower(name)
	}
	if b[12]&0x10 != 0 {
		ext = strings.ToLower(ext)
	}
	if ext != "" {
		return name + "." + ext
	}
	return name
}

// List reads the directory at a slash-separated path; names match without
// regard to case, as on FAT.
func (f *FAT) List(path string) ([]FATEntry, error) {
	e, err := f.find(path)
	if err != nil {
		return nil, err
	}
	if !e.IsDir {
		return nil, fmt.Errorf("%s: expected a directory", path)
	}
	return f.list(e)
}

// ReadFile reads the file at a path, at most limit bytes of it.
func (f *FAT) ReadFile(path string, limit int64) ([]byte, error) {
	e, err := f.find(path)
	if err != nil {
		return nil, err
	}
	if e.IsDir {
		return nil, fmt.Errorf("%s: expected a file", path)
	}
	if e.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", path, e.Size, limit)
	}
	if e.Size == 0 {
		return nil, nil
	}
	b, err := f.chain(e.first, e.Size)
	if err == nil && int64(len(b)) < e.Size {
		err = fmt.Errorf("%w: %s ends after %d of %d bytes", ErrFAT, path, len(b), e.Size)
	}
	return b, err
}

// find walks a path; the error wraps fs.ErrNotExist when it leads nowhere.
func (f *FAT) find(path string) (FATEntry, error) {
	at := rootEntry()
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if !at.IsDir {
			return at, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		entries, err := f.list(at)
		if err != nil {
			return at, err
		}
		found := false
		for _, e := range entries {
			if strings.EqualFold(e.Name, name) {
				at, found = e, true
				break
			}
		}
		if !found {
			return at, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	return at, nil
}
