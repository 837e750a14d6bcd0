package fat

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// maxDirectory limits the bytes that are read of one directory.
const maxDirectory = 4 << 20

// Reader reads a FAT12, FAT16 or FAT32 file system. It never writes.
type Reader struct {
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

// Entry is a file or directory.
type Entry struct {
	Name  string
	IsDir bool
	Size  int64
	first uint32
}

// Open reads the boot sector of the file system on r (section 3 of the
// specification).
func Open(r io.ReaderAt) (*Reader, error) {
	s, err := readBootSector(r)
	if err != nil {
		return nil, err
	}
	f := &Reader{
		r: r, clusterSize: s.sector * s.perCluster, fat: s.reserved * s.sector,
		rootSize: s.rootEntries * recordSize, rootCluster: s.rootCluster,
	}
	f.root = f.fat + s.tables*s.perTable*s.sector
	f.data = (f.root + f.rootSize + s.sector - 1) / s.sector * s.sector
	clusters := (s.total*s.sector - f.data) / f.clusterSize
	if clusters < 1 || clusters > 1<<28 {
		return nil, fmt.Errorf("%w: it has %d clusters", ErrInvalid, clusters)
	}
	f.clusters, f.bits = uint32(clusters), bitsOf(clusters)
	if (clusters+2)*int64(f.bits)/8 > s.perTable*s.sector {
		return nil, fmt.Errorf("%w: its table of %d sectors is too small for %d clusters", ErrInvalid, s.perTable, clusters)
	}
	return f, nil
}

// next returns the cluster that follows in a chain; ok is false at its end.
func (f *Reader) next(cluster uint32) (next uint32, ok bool, err error) {
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
func (f *Reader) valid(cluster uint32) error {
	if cluster < 2 || cluster-2 >= f.clusters {
		return fmt.Errorf("%w: cluster %d is outside its %d clusters", ErrInvalid, cluster, f.clusters)
	}
	return nil
}

// chain reads the clusters from first, up to limit bytes.
func (f *Reader) chain(first uint32, limit int64) ([]byte, error) {
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

// rootEntry is the root directory, which no directory lists.
func rootEntry() Entry { return Entry{IsDir: true} }

// list reads a directory.
func (f *Reader) list(dir Entry) ([]Entry, error) {
	var b []byte
	var err error
	switch {
	case dir.first == 0 && f.bits == 32:
		b, err = f.chain(f.rootCluster, maxDirectory)
	case dir.first == 0:
		b, err = readAt(f.r, f.root, int(f.rootSize))
	default:
		b, err = f.chain(dir.first, maxDirectory)
	}
	if err != nil {
		return nil, err
	}
	return parseDirectory(b), nil
}

// List reads the directory at a slash-separated path; names match without
// regard to case, as on FAT.
func (f *Reader) List(path string) ([]Entry, error) {
	e, err := f.Find(path)
	if err != nil {
		return nil, err
	}
	if !e.IsDir {
		return nil, fmt.Errorf("%s: expected a directory", path)
	}
	return f.list(e)
}

// ReadFile reads the file at a path, at most limit bytes of it.
func (f *Reader) ReadFile(path string, limit int64) ([]byte, error) {
	e, err := f.Find(path)
	if err != nil {
		return nil, err
	}
	if e.IsDir {
		return nil, fmt.Errorf("%s: expected a file", path)
	}
	return f.content(e, path, limit)
}

// content reads a file; path is for errors.
func (f *Reader) content(e Entry, path string, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", path, e.Size, limit)
	}
	if e.Size == 0 {
		return nil, nil
	}
	b, err := f.chain(e.first, e.Size)
	if err == nil && int64(len(b)) < e.Size {
		err = fmt.Errorf("%w: %s ends after %d of %d bytes", ErrInvalid, path, len(b), e.Size)
	}
	return b, err
}

// Find returns the file or directory at a path. The error wraps fs.ErrNotExist
// when there is none.
func (f *Reader) Find(path string) (Entry, error) {
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
