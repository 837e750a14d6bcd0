package configdrive

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
)

// entry is a file or, when children is not nil, a directory.
type entry struct {
	name     string
	parent   *entry
	children []*entry // in the order of their ISO identifiers
	content  []byte
	sector   [2]int // by name space; the same for a file
	length   [2]int // bytes
}

// newTree makes the directory tree of the files.
func newTree(files map[string][]byte) (*entry, error) {
	root := &entry{children: []*entry{}}
	dirs := map[string]*entry{".": root}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if p != path.Clean(p) || path.IsAbs(p) || p == "." || strings.HasPrefix(p, "..") {
			return nil, fmt.Errorf("%w: file name %q: expected a clean relative path", ErrInvalid, p)
		}
		dir, err := makeDirs(dirs, path.Dir(p))
		if err != nil {
			return nil, err
		}
		dir.children = append(dir.children, &entry{name: path.Base(p), parent: dir, content: files[p]})
	}
	for _, d := range root.directories() {
		if err := d.sort(); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// makeDirs returns the directory at p, made with its parents when absent.
func makeDirs(dirs map[string]*entry, p string) (*entry, error) {
	if d := dirs[p]; d != nil {
		return d, nil
	}
	if strings.Count(p, "/") > 6 {
		return nil, fmt.Errorf("%w: %s: ISO 9660 allows 8 levels of directories", ErrInvalid, p)
	}
	parent, err := makeDirs(dirs, path.Dir(p))
	if err != nil {
		return nil, err
	}
	d := &entry{name: path.Base(p), parent: parent, children: []*entry{}}
	parent.children = append(parent.children, d)
	dirs[p] = d
	return d, nil
}

// sort orders the children and refuses names the image cannot hold apart.
func (e *entry) sort() error {
	slices.SortFunc(e.children, func(a, b *entry) int { return cmp.Compare(a.identifier(plain), b.identifier(plain)) })
	seen := map[string]string{}
	for _, c := range e.children {
		if len(c.name) > 64 || len(c.name) > 30 && c.children != nil {
			return fmt.Errorf("%w: name %q is too long", ErrInvalid, c.name)
		}
		id := strings.TrimSuffix(c.identifier(plain), ".;1") // a file and a directory
		if other, taken := seen[id]; taken {
			return fmt.Errorf("%w: %q and %q are the same name in ISO 9660", ErrInvalid, other, c.name)
		}
		seen[id] = c.name
	}
	return nil
}

// directories lists e and the directories below it, breadth first.
func (e *entry) directories() []*entry {
	all := []*entry{e}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].children {
			if c.children != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// identifier is the entry's name in a name space. ISO 9660 level 2 knows
// capitals, digits, underscores and one dot; the real name is Rock Ridge's.
func (e *entry) identifier(space int) string {
	if space == joliet {
		return ucs2(e.name)
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(e.name))
	if e.children != nil {
		return safe
	}
	base := []byte(safe)
	if dot := strings.LastIndexByte(e.name, '.'); dot >= 0 && len(safe) == len(e.name) {
		base[dot] = '.'
	} else {
		base = append(base, '.')
	}
	if len(base) > 30 {
		base = base[len(base)-30:]
	}
	return string(base) + ";1"
}

// records are the directory's, in the order of their identifiers, the two
// of the directory itself and of its parent first.
func (e *entry) records(space int) [][]byte {
	parent := e
	if e.parent != nil {
		parent = e.parent
	}
	self := e.rockRidge("")
	if e.parent == nil {
		self = append(append([]byte("SP\x07\x01\xbe\xef\x00"), self...), "ER\x12\x01\x0a\x00\x00\x01RRIP_1991A"...)
	}
	out := [][]byte{e.record(space, "\x00", self), parent.record(space, "\x01", parent.rockRidge(""))}
	children := slices.Clone(e.children)
	slices.SortFunc(children, func(a, b *entry) int { return cmp.Compare(a.identifier(space), b.identifier(space)) })
	for _, c := range children {
		out = append(out, c.record(space, c.identifier(space), c.rockRidge(c.name)))
	}
	return out
}

// listing is the directory's extent: no record crosses a sector's edge.
func (e *entry) listing(space int) []byte {
	var b []byte
	for _, r := range e.records(space) {
		if room := sectorSize - len(b)%sectorSize; room < len(r) {
			b = append(b, make([]byte, room)...)
		}
		b = append(b, r...)
	}
	return append(b, make([]byte, sectors(len(b))*sectorSize-len(b))...)
}

// listingLength is known before sectors are: records' lengths do not depend
// on what they point to.
func (e *entry) listingLength(space int) int { return len(e.listing(space)) }

// record is the entry's directory record, ECMA-119 section 9.1.
func (e *entry) record(space int, id string, system []byte) []byte {
	n := 33 + len(id)
	n += n % 2
	if space == joliet {
		system = nil
	}
	b := make([]byte, n, n+len(system)+1)
	both32(b[2:], e.sector[space])
	both32(b[10:], e.length[space])
	copy(b[18:], []byte{100, 1, 1}) // 2000-01-01: the same bytes each time
	if e.children != nil {
		b[25] = 2
	}
	both16(b[28:], 1)
	b[32] = byte(len(id))
	copy(b[33:], id)
	b = append(b, system...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	b[0] = byte(len(b))
	return b
}

// rockRidge are the entry's POSIX attributes and name (RRIP 4.1.1, 4.1.4).
func (e *entry) rockRidge(name string) []byte {
	b := make([]byte, 36)
	copy(b, "PX\x24\x01")
	mode, links := 0o100444, 1
	if e.children != nil {
		mode, links = 0o040555, 2
	}
	both32(b[4:], mode)
	both32(b[12:], links)
	if name == "" {
		return b
	}
	return append(append(b, 'N', 'M', byte(5+len(name)), 1, 0), name...)
}

// ucs2 is a Joliet name: UTF-16, big endian.
func ucs2(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return string(b)
}
