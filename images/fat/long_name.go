package fat

import (
	"encoding/binary"
	"unicode/utf16"
)

// A long name lies in entries of 13 UTF-16 units, the last part first (section 7).
const (
	unitsPerPart = 13
	lastPart     = 0x40 // marks the entry of the name's last part
)

// unitOffsets are the places of the units in an entry.
var unitOffsets = [unitsPerPart]int{1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30}

// longNamePart reads the up to 13 units of a long-name entry.
func longNamePart(b []byte) []uint16 {
	var out []uint16
	for _, at := range unitOffsets {
		c := binary.LittleEndian.Uint16(b[at:])
		if c == 0 {
			return out
		}
		out = append(out, c)
	}
	return out
}

// longNameRecords renders the entries of a long name. The short name's checksum
// binds them to its entry, which follows.
func longNameRecords(name, short string) []byte {
	units := append(utf16.Encode([]rune(name)), 0)
	for len(units)%unitsPerPart != 0 {
		units = append(units, 0xffff)
	}
	if n := len(units) - unitsPerPart; n > 0 && units[n] == 0 { // the name fills its entries: no terminator
		units = units[:n]
	}
	var b []byte
	parts := len(units) / unitsPerPart
	for part := parts; part > 0; part-- {
		e := make([]byte, recordSize)
		e[0], e[11], e[13] = byte(part), attrLongName, checksum(short)
		if part == parts {
			e[0] |= lastPart
		}
		for i, u := range units[(part-1)*unitsPerPart : part*unitsPerPart] {
			binary.LittleEndian.PutUint16(e[unitOffsets[i]:], u)
		}
		b = append(b, e...)
	}
	return b
}

// checksum is the sum of a short name of 11 characters (section 7.2).
func checksum(short string) (sum byte) {
	for _, c := range []byte(short) {
		sum = sum<<7 | sum>>1
		sum += c
	}
	return sum
}
