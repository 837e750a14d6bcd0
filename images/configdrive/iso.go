package configdrive

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// sectorSize of ISO 9660, bytes.
const sectorSize = 2048

// Build makes an ISO 9660 image (ECMA-119) with Rock Ridge names for Linux
// and Joliet names for Windows. files maps slash-separated paths to content;
// label is the volume's, at most 16 characters (Joliet's limit). The same
// input gives the same bytes.
func Build(label string, files map[string][]byte) ([]byte, error) {
	if label == "" || len(label) > 16 {
		return nil, fmt.Errorf("%w: label %q: expected 1 to 16 characters", ErrInvalid, label)
	}
	root, err := newTree(files)
	if err != nil {
		return nil, err
	}
	iso := &image{label: label, root: root, dirs: root.directories()}
	if err := iso.layout(); err != nil {
		return nil, err
	}
	return iso.render(), nil
}

// image is an ISO being laid out: sectors 16 to 18 are the volume
// descriptors, then come both path tables in both byte orders, the
// directories twice, the files once.
type image struct {
	label  string
	root   *entry
	dirs   []*entry // breadth first: the order of a path table
	tables [4]int   // sectors of the path tables: plain L, M, Joliet L, M
	end    int      // sectors in all
}

// The two name spaces of the image.
const (
	plain  = 0 // ISO 9660 names with Rock Ridge entries
	joliet = 1
)

// layout gives every part its sector.
func (m *image) layout() error {
	next := 19
	for i := range m.tables {
		m.tables[i] = next
		next += sectors(len(m.pathTable(i/2, binary.LittleEndian)))
	}
	for space := range 2 {
		for _, d := range m.dirs {
			d.sector[space] = next
			d.length[space] = d.listingLength(space)
			next += sectors(d.length[space])
		}
	}
	for _, d := range m.dirs {
		for _, f := range d.children {
			if f.children != nil {
				continue
			}
			f.sector = [2]int{next, next}
			f.length = [2]int{len(f.content), len(f.content)}
			next += sectors(len(f.content))
		}
	}
	m.end = next
	if m.end*sectorSize > MaxSize {
		return tooLarge(m.end * sectorSize)
	}
	return nil
}

// sectors is the number of sectors that n bytes fill.
func sectors(n int) int { return (n + sectorSize - 1) / sectorSize }

// render writes every part to its place.
func (m *image) render() []byte {
	b := make([]byte, m.end*sectorSize)
	at := func(sector int) []byte { return b[sector*sectorSize:] }
	m.descriptor(at(16), plain)
	m.descriptor(at(17), joliet)
	copy(at(18), "\xffCD001\x01")
	for i, sector := range m.tables {
		var order binary.ByteOrder = binary.LittleEndian
		if i%2 == 1 {
			order = binary.BigEndian
		}
		copy(at(sector), m.pathTable(i/2, order))
	}
	for _, d := range m.dirs {
		for space := range 2 {
			copy(at(d.sector[space]), d.listing(space))
		}
		for _, f := range d.children {
			if f.children == nil {
				copy(at(f.sector[plain]), f.content)
			}
		}
	}
	return b
}

// descriptor writes a volume descriptor, ECMA-119 section 8.4.
func (m *image) descriptor(b []byte, space int) {
	text := func(off, n int, s string) { copy(b[off:off+n], padded(s, n, space)) }
	b[0] = byte(1 + space)
	copy(b[1:], "CD001\x01")
	text(8, 32, "")
	text(40, 32, m.label)
	both32(b[80:], m.end)
	if space == joliet {
		copy(b[88:], "%/E") // UCS-2 level 3
	}
	both16(b[120:], 1)
	both16(b[124:], 1)
	both16(b[128:], sectorSize)
	both32(b[132:], len(m.pathTable(space, binary.LittleEndian)))
	binary.LittleEndian.PutUint32(b[140:], uint32(m.tables[2*space]))
	binary.BigEndian.PutUint32(b[148:], uint32(m.tables[2*space+1]))
	copy(b[156:], m.root.record(space, "\x00", nil))
	for _, f := range [][2]int{{190, 128}, {318, 128}, {446, 128}, {574, 128}, {702, 37}, {739, 37}, {776, 37}} {
		text(f[0], f[1], "")
	}
	for off := 813; off < 881; off += 17 {
		copy(b[off:], "0000000000000000\x00") // no date
	}
	b[881] = 1
}

// padded is a descriptor's text field: blanks to its end, in UCS-2 for Joliet.
func padded(s string, n, space int) []byte {
	if space == plain {
		return []byte(s + strings.Repeat(" ", n-len(s)))
	}
	b := make([]byte, n) // an odd last byte stays zero
	copy(b, ucs2(s+strings.Repeat(" ", n/2-len(s))))
	return b
}

// pathTable lists the directories, ECMA-119 section 9.4.
func (m *image) pathTable(space int, order binary.ByteOrder) []byte {
	var b []byte
	number := map[*entry]int{}
	for i, d := range m.dirs {
		number[d] = i + 1
		name := "\x00"
		if d != m.root {
			name = d.identifier(space)
		}
		parent := 1
		if d.parent != nil {
			parent = number[d.parent]
		}
		b = append(b, byte(len(name)), 0)
		var n [6]byte
		order.PutUint32(n[:], uint32(d.sector[space]))
		order.PutUint16(n[4:], uint16(parent))
		b = append(append(b, n[:]...), name...)
		if len(name)%2 == 1 {
			b = append(b, 0)
		}
	}
	return b
}

// both32 writes a number in both byte orders, ECMA-119 section 7.3.3.
func both32(b []byte, n int) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], uint32(n))
}

// both16 writes a number in both byte orders, ECMA-119 section 7.2.3.
func both16(b []byte, n int) {
	binary.LittleEndian.PutUint16(b, uint16(n))
	binary.BigEndian.PutUint16(b[2:], uint16(n))
}
