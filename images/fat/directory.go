package fat

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// parseDirectory reads directory entries and joins long names (section 7).
func parseDirectory(b []byte) []Entry {
	le := binary.LittleEndian
	var out []Entry
	var long []uint16
	for ; len(b) >= recordSize && b[0] != 0; b = b[recordSize:] {
		attr := b[11]
		switch {
		case b[0] == 0xe5:
			long = nil
		case attr&0x3f == attrLongName:
			if b[0]&0x40 != 0 {
				long = nil
			}
			long = append(longNamePart(b), long...) // the last part comes first
		case attr&attrVolume != 0:
			long = nil
		default:
			e := Entry{
				Name: shortName(b), IsDir: attr&attrDirectory != 0, Size: int64(le.Uint32(b[28:])),
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
