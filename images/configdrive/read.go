package configdrive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"path"
	"strings"
	"unicode/utf16"

	"github.com/ferrite-metal/ferrite/images/iso"
)

const (
	maxFiles = 4096 // of an image we are willing to read
	maxDepth = 16
)

// read lists the files of an ISO 9660 image by path: ours, or one an operator
// made. Joliet names are taken where there are any, else Rock Ridge's, else
// the plain ones in small letters.
func read(image []byte) (map[string][]byte, error) {
	r := &reader{image: image, files: map[string][]byte{}}
	root, err := r.root()
	if err != nil {
		return nil, err
	}
	return r.files, r.dir(root, "", 0)
}

// reader is one walk over an image.
type reader struct {
	image  []byte
	joliet bool
	files  map[string][]byte
	seen   int // records, directories among them
}

// root finds the root's record in the volume descriptors.
func (r *reader) root() ([]byte, error) {
	var root []byte
	for at := 16 * iso.SectorSize; at+iso.SectorSize <= len(r.image); at += iso.SectorSize {
		d := r.image[at:][:iso.SectorSize]
		if string(d[1:6]) != "CD001" || d[0] == 255 {
			break
		}
		switch {
		case d[0] == 1 && root == nil:
			root = d[156:190]
		case d[0] == 2 && bytes.HasPrefix(d[88:], []byte("%/")):
			root, r.joliet = d[156:190], true
		}
	}
	if root == nil {
		return nil, fmt.Errorf("%w: expected an ISO 9660 image, found no volume descriptor", ErrInvalid)
	}
	return root, nil
}

// extent is the content that a directory record points to.
func (r *reader) extent(record []byte) ([]byte, error) {
	le := binary.LittleEndian
	at, n := int64(le.Uint32(record[2:]))*iso.SectorSize, int64(le.Uint32(record[10:]))
	if at+n > int64(len(r.image)) {
		return nil, fmt.Errorf("%w: a file of %d bytes at %d lies outside the image of %d", ErrInvalid, n, at, len(r.image))
	}
	return r.image[at:][:n], nil
}

// dir reads a directory and its contents.
func (r *reader) dir(record []byte, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: more than %d levels of directories", ErrInvalid, maxDepth)
	}
	b, err := r.extent(record)
	if err != nil {
		return err
	}
	for at := 0; at < len(b); {
		n := int(b[at])
		if n == 0 { // the rest of a sector
			at = (at/iso.SectorSize + 1) * iso.SectorSize
			continue
		}
		if n < 34 || at+n > len(b) || 33+int(b[at+32]) > n {
			return fmt.Errorf("%w: a directory record of %d bytes in %q", ErrInvalid, n, name)
		}
		if err := r.record(b[at:at+n], name, depth); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// record takes one entry of the directory called dir.
func (r *reader) record(b []byte, dir string, depth int) error {
	if b[32] == 1 && b[33] <= 1 {
		return nil // the directory itself, and its parent
	}
	if r.seen++; r.seen > maxFiles {
		return fmt.Errorf("%w: more than %d files", ErrInvalid, maxFiles)
	}
	base := r.name(b)
	if base == "" || base == "." || base == ".." || strings.ContainsAny(base, "/\x00") {
		return fmt.Errorf("%w: a file called %q", ErrInvalid, base)
	}
	name := path.Join(dir, base)
	if !r.joliet && systemUse(b, "SL") {
		return fmt.Errorf("%w: %s is a symbolic link, which VFAT does not have: put a copy of the file there", ErrInvalid,
			name)
	}
	if b[25]&2 != 0 {
		return r.dir(b, name, depth+1)
	}
	content, err := r.extent(b)
	if err != nil {
		return err
	}
	r.files[name] = content
	return nil
}

// name is the best name a record has.
func (r *reader) name(b []byte) string {
	id := b[33:][:b[32]]
	var name string
	switch {
	case r.joliet:
		var u []uint16
		for ; len(id) >= 2; id = id[2:] {
			u = append(u, binary.BigEndian.Uint16(id))
		}
		name = string(utf16.Decode(u))
	default:
		if long := rockRidgeName(b); long != "" {
			return long
		}
		name = strings.ToLower(string(id))
	}
	name, _, _ = strings.Cut(name, ";")
	return strings.TrimSuffix(name, ".")
}

// entries are the parts of a record's system use (SUSP, section 4.1), each with its two letters first.
func entries(record []byte) iter.Seq[[]byte] {
	id := int(record[32])
	b := record[min(len(record), 33+id+1-id%2):]
	return func(yield func([]byte) bool) {
		for len(b) >= 4 && int(b[2]) >= 4 && int(b[2]) <= len(b) && yield(b[:b[2]]) {
			b = b[b[2]:]
		}
	}
}

// systemUse reports whether a record has an entry of a kind.
func systemUse(record []byte, kind string) bool {
	for e := range entries(record) {
		if string(e[:2]) == kind {
			return true
		}
	}
	return false
}

// rockRidgeName joins the NM entries of a record (RRIP, 4.1.4); "" for none.
func rockRidgeName(record []byte) string {
	var name strings.Builder
	for e := range entries(record) {
		if string(e[:2]) == "NM" && len(e) > 5 {
			name.Write(e[5:])
		}
	}
	return name.String()
}
