package iso

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Volume is an image to compose.
type Volume struct {
	Label string             // 1 to 16 characters: Joliet's limit
	Files map[string]Content // by slash-separated relative path
	Boot  *Boot              // nil: the image does not boot
}

// Image is a composed image. It is an io.ReaderAt of Size bytes, safe for concurrent use as far as
// the readers of its files are.
type Image struct {
	size  int64
	parts []part // by offset; between them are zeroes
}

// part is a run of bytes from off on.
type part struct {
	off int64
	Content
}

// New composes a volume.
func New(v Volume) (*Image, error) {
	if v.Label == "" || len(v.Label) > 16 {
		return nil, fmt.Errorf("%w: label %q: expected 1 to 16 characters", ErrInvalid, v.Label)
	}
	root, err := Tree(v.Files)
	if err != nil {
		return nil, err
	}
	p := &plan{label: v.Label, root: root, dirs: root.directories(), boot: v.Boot}
	p.layout()
	return p.image()
}

// Size is the image's length in bytes.
func (m *Image) Size() int64 { return m.size }

// ReadAt reads from the image, as io.ReaderAt.
func (m *Image) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%w: read at %d", ErrInvalid, off)
	}
	want := len(b)
	b = b[:max(0, min(int64(want), m.size-off))]
	clear(b)
	end := off + int64(len(b))
	i, found := slices.BinarySearchFunc(m.parts, off, func(p part, off int64) int { return int(p.off - off) })
	if !found && i > 0 {
		i--
	}
	for ; i < len(m.parts) && m.parts[i].off < end; i++ {
		p := m.parts[i]
		from, to := max(off, p.off), min(end, p.off+p.Size)
		if from >= to {
			continue
		}
		n, err := p.At.ReadAt(b[from-off:to-off], from-p.off)
		if got := int64(n); got < to-from {
			if err == nil || errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: a file has become shorter while it was read: %w", ErrInvalid, io.ErrUnexpectedEOF)
			}
			return int(from - off + got), err
		}
	}
	if len(b) < want {
		return len(b), io.EOF
	}
	return len(b), nil
}

// plan is an image being laid out: volume descriptors from sector 16 on, both path tables in both
// byte orders, the directories twice, the files once.
type plan struct {
	label   string
	root    *Entry
	dirs    []*Entry // breadth first: the order of a path table
	boot    *Boot
	catalog int64    // sector of El Torito's boot catalog; 0 for none
	tables  [4]int64 // sectors of the path tables: plain L, M, Joliet L, M
	files   int64    // the first sector of files
	end     int64    // sectors in all
}

// The two name spaces of the image.
const (
	plain  = 0 // ISO 9660 names with Rock Ridge entries
	joliet = 1
)

// layout gives every part its sector.
func (m *plan) layout() {
	next := int64(19)
	if m.boot != nil {
		m.catalog, next = 20, 21
	}
	for i := range m.tables {
		m.tables[i] = next
		next += sectors(int64(len(m.pathTable(i/2, binary.LittleEndian))))
	}
	for space := range 2 {
		for _, d := range m.dirs {
			d.sector[space] = next
			d.length[space] = d.listingLength(space)
			next += sectors(d.length[space])
		}
	}
	m.files = next
	for f := range m.allFiles {
		f.sector = [2]int64{next, next}
		f.length = [2]int64{f.Content.Size, f.Content.Size}
		next += sectors(f.Content.Size)
	}
	m.end = next
}

// allFiles yields the files in the order of their places.
func (m *plan) allFiles(yield func(*Entry) bool) {
	for _, d := range m.dirs {
		for _, f := range d.Children {
			if f.Children == nil && !yield(f) {
				return
			}
		}
	}
}

// sectors is the number of sectors that n bytes fill.
func sectors(n int64) int64 { return (n + SectorSize - 1) / SectorSize }

// image puts every part in its place.
func (m *plan) image() (*Image, error) {
	if m.end > 1<<32-1 {
		return nil, fmt.Errorf("%w: it has %d sectors, at most %d are allowed", ErrInvalid, m.end, 1<<32-1)
	}
	out := &Image{size: m.end * SectorSize, parts: []part{{}}}
	for f := range m.allFiles {
		if f.Content.Size < 0 || f.Content.Size > 1<<32-1 {
			return nil, fmt.Errorf("%w: file %s has %d bytes, at most %d are allowed", ErrInvalid, f.Name, f.Content.Size,
				1<<32-1)
		}
		if f.Content.Size > 0 {
			out.parts = append(out.parts, part{f.sector[plain] * SectorSize, f.Content})
		}
	}
	head := m.head()
	if m.boot != nil {
		if err := m.makeBootable(head, out); err != nil {
			return nil, err
		}
	}
	out.parts[0].Content = Bytes(head)
	return out, nil
}

// head is all before the files.
func (m *plan) head() []byte {
	b := make([]byte, m.files*SectorSize)
	at := func(sector int64) []byte { return b[sector*SectorSize:] }
	m.descriptor(at(16), plain)
	next := int64(17)
	if m.boot != nil {
		next = 18 // El Torito has its descriptor at 17, section 2.0
	}
	m.descriptor(at(next), joliet)
	copy(at(next+1), "\xffCD001\x01")
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
	}
	return b
}

// descriptor writes a volume descriptor, ECMA-119 section 8.4.
func (m *plan) descriptor(b []byte, space int) {
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
	both16(b[128:], SectorSize)
	both32(b[132:], int64(len(m.pathTable(space, binary.LittleEndian))))
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
func (m *plan) pathTable(space int, order binary.ByteOrder) []byte {
	var b []byte
	number := map[*Entry]int{}
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
func both32(b []byte, n int64) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], uint32(n))
}

// both16 writes a number in both byte orders, ECMA-119 section 7.2.3.
func both16(b []byte, n int) {
	binary.LittleEndian.PutUint16(b, uint16(n))
	binary.BigEndian.PutUint16(b[2:], uint16(n))
}
