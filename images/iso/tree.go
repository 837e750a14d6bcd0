package iso

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

// Entry is a file or, when Children is not nil, a directory.
type Entry struct {
	Name     string
	Children []*Entry // in the order of their ISO identifiers
	Content  Content
	parent   *Entry
	sector   [2]int64 // by name space; the same for a file
	length   [2]int64 // bytes
}

// Tree is the root directory of the files, which map slash-separated relative paths to content.
// It refuses names that ISO 9660 cannot hold apart.
func Tree(files map[string]Content) (*Entry, error) {
	root := &Entry{Children: []*Entry{}}
	dirs := map[string]*Entry{".": root}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if p != path.Clean(p) || path.IsAbs(p) || p == "." || strings.HasPrefix(p, "..") {
			return nil, fmt.Errorf("%w: file name %q: expected a clean relative path", ErrInvalid, p)
		}
		dir, err := makeDirs(dirs, path.Dir(p))
		if err != nil {
			return nil, err
		}
		dir.Children = append(dir.Children, &Entry{Name: path.Base(p), parent: dir, Content: files[p]})
	}
	for _, d := range root.directories() {
		if err := d.sort(); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// makeDirs returns the directory at p, made with its parents when absent.
func makeDirs(dirs map[string]*Entry, p string) (*Entry, error) {
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
	d := &Entry{Name: path.Base(p), parent: parent, Children: []*Entry{}}
	parent.Children = append(parent.Children, d)
	dirs[p] = d
	return d, nil
}

// sort orders the children and refuses names the image cannot hold apart.
func (e *Entry) sort() error {
	slices.SortFunc(e.Children, func(a, b *Entry) int { return cmp.Compare(a.identifier(plain), b.identifier(plain)) })
	seen := map[string]string{}
	for _, c := range e.Children {
		if len(c.Name) > 64 || len(c.Name) > 30 && c.Children != nil {
			return fmt.Errorf("%w: name %q is too long", ErrInvalid, c.Name)
		}
		id := strings.TrimSuffix(c.identifier(plain), ".;1") // a file and a directory
		if other, taken := seen[id]; taken {
			return fmt.Errorf("%w: %q and %q are the same name in ISO 9660", ErrInvalid, other, c.Name)
		}
		seen[id] = c.Name
	}
	return nil
}

// find returns the entry at a slash-separated path below e; nil for none.
func (e *Entry) find(name string) *Entry {
	for part := range strings.SplitSeq(name, "/") {
		i := slices.IndexFunc(e.Children, func(c *Entry) bool { return c.Name == part })
		if i < 0 {
			return nil
		}
		e = e.Children[i]
	}
	return e
}

// directories lists e and the directories below it, breadth first.
func (e *Entry) directories() []*Entry {
	all := []*Entry{e}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].Children {
			if c.Children != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// identifier is the entry's name in a name space. ISO 9660 level 2 knows
// capitals, digits, underscores and one dot; the real name is Rock Ridge's.
func (e *Entry) identifier(space int) string {
	if space == joliet {
		return ucs2(e.Name)
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(e.Name))
	if e.Children != nil {
		return safe
	}
	base := []byte(safe)
	if dot := strings.LastIndexByte(e.Name, '.'); dot >= 0 && len(safe) == len(e.Name) {
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
func (e *Entry) records(space int) [][]byte {
	parent := e
	if e.parent != nil {
		parent = e.parent
	}
	self := e.rockRidge("")
	if e.parent == nil {
		self = append(append([]byte("SP\x07\x01\xbe\xef\x00"), self...), "ER\x12\x01\x0a\x00\x00\x01RRIP_1991A"...)
	}
	out := [][]byte{e.record(space, "\x00", self), parent.record(space, "\x01", parent.rockRidge(""))}
	children := slices.Clone(e.Children)
	slices.SortFunc(children, func(a, b *Entry) int { return cmp.Compare(a.identifier(space), b.identifier(space)) })
	for _, c := range children {
		out = append(out, c.record(space, c.identifier(space), c.rockRidge(c.Name)))
	}
	return out
}

// listing is the directory's extent: no record crosses a sector's edge.
func (e *Entry) listing(space int) []byte {
	var b []byte
	for _, r := range e.records(space) {
		if room := SectorSize - len(b)%SectorSize; room < len(r) {
			b = append(b, make([]byte, room)...)
		}
		b = append(b, r...)
	}
	return append(b, make([]byte, -len(b)&(SectorSize-1))...)
}

// listingLength is known before sectors are: records' lengths do not depend on the sectors that they point to.
func (e *Entry) listingLength(space int) int64 { return int64(len(e.listing(space))) }

// record is the entry's directory record, ECMA-119 section 9.1.
func (e *Entry) record(space int, id string, system []byte) []byte {
	n := 33 + len(id)
	n += n % 2
	if space == joliet {
		system = nil
	}
	b := make([]byte, n, n+len(system)+1)
	both32(b[2:], e.sector[space])
	both32(b[10:], e.length[space])
	copy(b[18:], []byte{100, 1, 1}) // 2000-01-01: the same bytes each time
	if e.Children != nil {
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
func (e *Entry) rockRidge(name string) []byte {
	b := make([]byte, 36)
	copy(b, "PX\x24\x01")
	mode, links := 0o100444, 1
	if e.Children != nil {
		mode, links = 0o040555, 2
	}
	both32(b[4:], int64(mode))
	both32(b[12:], int64(links))
	if name == "" {
		return b
	}
	return append(append(b, 'N', 'M', byte(5+len(name)), 1, 0), name...)
}

// ucs2 is a Joliet Name: UTF-16, big endian.
func ucs2(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return string(b)
}
