package fat

import (
	"encoding/binary"
	"fmt"
)

// buildDate is 2000-01-01: the same bytes each time.
const buildDate = (2000-1980)<<9 | 1<<5 | 1

// directory is one of a tree, with the directory that lists it.
type directory struct{ file, parent *File }

// directories lists the root and the directories below it, breadth first.
func directories(root *File) []directory {
	all := []directory{{file: root}}
	for i := 0; i < len(all); i++ {
		for _, c := range all[i].file.Children {
			if c.Children != nil {
				all = append(all, directory{c, all[i].file})
			}
		}
	}
	return all
}

// listing renders a directory's entries, each with its long name.
func (f *image) listing(d *File) []byte {
	var b []byte
	for i, e := range d.Children {
		short := fmt.Sprintf("F%07X   ", i) // only long names are meant to be read
		attr := byte(attrReadOnly)
		if e.Children != nil {
			attr = attrDirectory
		}
		b = append(b, longNameRecords(e.Name, short)...)
		b = append(b, record(short, attr, f.first[e], len(e.Content))...)
	}
	return b
}

// record is a directory entry (section 6).
func record(name string, attr byte, first uint16, size int) []byte {
	le := binary.LittleEndian
	b := make([]byte, recordSize)
	copy(b, name)
	b[11] = attr
	for _, at := range []int{16, 18, 24} { // made, read, written
		le.PutUint16(b[at:], buildDate)
	}
	le.PutUint16(b[26:], first)
	le.PutUint32(b[28:], uint32(size))
	return b
}
