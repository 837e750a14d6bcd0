package inventory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The SMBIOS structures that are read (DSP0134 3.7, section 7).
const (
	smbiosBIOS          = 0
	smbiosProcessor     = 4
	smbiosMemoryArray   = 16
	smbiosMemoryDevice  = 17
	smbiosHostInterface = 42
	smbiosEnd           = 127
)

// structure is one of SMBIOS: its formatted part, header included, and the
// texts behind it.
type structure struct {
	kind   byte
	handle uint16
	data   []byte
	texts  []string
}

// smbios reads the machine's SMBIOS table; nothing where there is none. damage says where
// it cannot be read any more, and why; "" for a whole table.
func smbios(fsys fs.FS) (list []structure, damage string) {
	table, err := fs.ReadFile(fsys, "sys/firmware/dmi/tables/DMI")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err.Error()
	}
	return structures(table)
}

// structures splits a table into its structures, up to the first damage: where the next
// one begins, only a whole one says. Of a table that is cut off in the last texts these
// are taken. Zeros behind the last structure are room that the firmware did not use.
func structures(table []byte) (list []structure, damage string) {
	size := len(table)
	for len(table) > 0 {
		if len(table) < 4 || table[1] < 4 || int(table[1]) > len(table) {
			if len(bytes.Trim(table, "\x00")) > 0 {
				damage = fmt.Sprintf("damaged at byte %d of %d, after structure %d", size-len(table), size, len(list))
			}
			break
		}
		s := structure{kind: table[0], handle: binary.LittleEndian.Uint16(table[2:]), data: table[:table[1]]}
		s.texts, table = textsOf(table[table[1]:])
		list = append(list, s)
		if s.kind == smbiosEnd {
			break
		}
	}
	return list, damage
}

// textsOf reads the texts behind a structure, each ended by a zero byte and all by another, and returns the rest.
func textsOf(b []byte) (texts []string, rest []byte) {
	own, rest, _ := bytes.Cut(b, []byte{0, 0})
	if len(own) > 0 {
		for t := range bytes.SplitSeq(bytes.TrimSuffix(own, []byte{0}), []byte{0}) {
			texts = append(texts, strings.TrimSpace(strings.ToValidUTF8(string(t), "?")))
		}
	}
	return texts, rest
}

// u8, u16, u32 and u64 read a field; ok is false where an older SMBIOS has none.
func (s structure) u8(at int) (v uint8, ok bool) {
	if len(s.data) < at+1 {
		return 0, false
	}
	return s.data[at], true
}

func (s structure) u16(at int) (v uint16, ok bool) {
	if len(s.data) < at+2 {
		return 0, false
	}
	return binary.LittleEndian.Uint16(s.data[at:]), true
}

func (s structure) u32(at int) (v uint32, ok bool) {
	if len(s.data) < at+4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(s.data[at:]), true
}

func (s structure) u64(at int) (v uint64, ok bool) {
	if len(s.data) < at+8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(s.data[at:]), true
}

// text reads a field that says which text it is, counted from 1; "" for none.
func (s structure) text(at int) string {
	n, ok := s.u8(at)
	if !ok || n == 0 || int(n) > len(s.texts) {
		return ""
	}
	return s.texts[n-1]
}
