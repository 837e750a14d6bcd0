package medium

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf16"
)

// errISO is wrapped when a file system cannot be read.
var errISO = errors.New("ISO 9660 file system")

// Sizes and bounds of ISO 9660 (ECMA-119).
const (
	sector        = 2048
	firstVolume   = 16 // sector of the first descriptor
	mostVolumes   = 32 // descriptors that are looked at
	leastRecord   = 34
	mostDirectory = 1 << 20
)

// ISO reads files of an ISO 9660 file system, by the names of Rock Ridge, Joliet or the
// standard itself.
type ISO struct {
	Label string
	r     io.ReaderAt
	roots []root
}

// root is the root directory of one of the trees of names.
type root struct {
	record
	joliet bool
}

// record is a file or directory.
type record struct {
	name  string
	start int64 // sector
	size  int64
	dir   bool
}

// OpenISO reads the volume descriptors.
func OpenISO(r io.ReaderAt) (*ISO, error) {
	out := &ISO{r: r}
	b := make([]byte, sector)
	for n := range int64(mostVolumes) {
		if _, err := r.ReadAt(b, (firstVolume+n)*sector); err != nil {
			return nil, fmt.Errorf("%w: descriptor %d: %w", errISO, n, err)
		}
		if string(b[1:6]) != "CD001" {
			return nil, fmt.Errorf("%w: descriptor %d has no signature", errISO, n)
		}
		const primary, supplementary, terminator = 1, 2, 255
		switch joliet := string(b[88:90]) == "%/" && strings.ContainsRune("@CE", rune(b[90])); {
		case b[0] == terminator:
			if len(out.roots) == 0 {
				return nil, fmt.Errorf("%w: no primary descriptor", errISO)
			}
			return out, nil
		case b[0] == primary, b[0] == supplementary && joliet:
			top, _, err := parseRecord(b[156:190], false)
			if err != nil {
				return nil, err
			}
			if b[0] == primary {
				out.Label = strings.TrimRight(string(b[40:72]), " \x00")
			}
			out.roots = append(out.roots, root{top, b[0] == supplementary})
		}
	}
	return nil, fmt.Errorf("%w: more than %d descriptors", errISO, mostVolumes)
}

// parseRecord reads a directory record (9.1) and its length; 0 where the sector has no more.
func parseRecord(b []byte, joliet bool) (record, int, error) {
	if len(b) == 0 || b[0] == 0 {
		return record{}, 0, nil
	}
	length := int(b[0])
	if length < leastRecord || length > len(b) || leastRecord-1+int(b[32]) > length {
		return record{}, 0, fmt.Errorf("%w: a directory record of %d bytes is damaged", errISO, length)
	}
	le := binary.LittleEndian
	e := record{start: int64(le.Uint32(b[2:])), size: int64(le.Uint32(b[10:])), dir: b[25]&2 != 0}
	name := b[33 : 33+int(b[32])]
	if joliet {
		var units []uint16
		for i := 0; i+1 < len(name); i += 2 {
			units = append(units, binary.BigEndian.Uint16(name[i:]))
		}
		e.name = string(utf16.Decode(units))
	} else {
		e.name = string(name)
	}
	e.name, _, _ = strings.Cut(e.name, ";") // the version
	e.name = strings.TrimSuffix(e.name, ".")
	if rock := rockRidge(b[min(33+len(name)+(len(name)+1)%2, length):length]); rock != "" && !joliet {
		e.name = rock
	}
	return e, length, nil
}

// rockRidge is the name in a record's system use area (IEEE P1282, NM); "" for none.
func rockRidge(b []byte) string {
	var name strings.Builder
	for len(b) >= 4 && b[2] >= 4 && int(b[2]) <= len(b) {
		if string(b[:2]) == "NM" && b[2] > 5 {
			name.Write(b[5:b[2]])
		}
		b = b[b[2]:]
	}
	return name.String()
}

// ReadFile reads the file at a path with slashes, at most limit bytes of it. Names match in
// any case. The error wraps fs.ErrNotExist when there is none.
func (i *ISO) ReadFile(path string, limit int64) ([]byte, error) {
	var first error
	for _, top := range i.roots {
		b, err := i.readFrom(top, path, limit)
		if !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (i *ISO) readFrom(top root, path string, limit int64) ([]byte, error) {
	at := top.record
	for name := range strings.SplitSeq(path, "/") {
		entries, err := i.list(at, top.joliet)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if strings.EqualFold(e.name, name) {
				at, found = e, true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
	}
	if at.dir || at.size > limit {
		return nil, fmt.Errorf("%s: expected a file of at most %d bytes, found %d", path, limit, at.size)
	}
	return i.extent(at)
}

// list reads a directory; a record never crosses the end of a sector (6.8.1.1).
func (i *ISO) list(dir record, joliet bool) ([]record, error) {
	if !dir.dir || dir.size > mostDirectory {
		return nil, fmt.Errorf("%w: a directory of %d bytes is damaged", errISO, dir.size)
	}
	b, err := i.extent(dir)
	if err != nil {
		return nil, err
	}
	var out []record
	for len(b) > 0 {
		page := b[:min(sector, len(b))]
		b = b[len(page):]
		for {
			e, n, err := parseRecord(page, joliet)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				break
			}
			out, page = append(out, e), page[n:]
		}
	}
	return out, nil
}

func (i *ISO) extent(e record) ([]byte, error) {
	b := make([]byte, e.size)
	if n, err := i.r.ReadAt(b, e.start*sector); n < len(b) {
		return nil, fmt.Errorf("%w: %d bytes at sector %d: %w", errISO, e.size, e.start, err)
	}
	return b, nil
}
