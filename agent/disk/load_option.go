package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// ErrLoadOption is wrapped when a boot variable is not a load option.
var ErrLoadOption = errors.New("EFI load option")

// loadActive marks a load option that the boot manager tries.
const loadActive = 1

// Device path nodes we write (UEFI specification section 10.3).
const (
	nodeMedia    = 0x04
	nodeHD       = 0x01
	nodeFile     = 0x04
	nodeEnd      = 0x7f
	nodeEndWhole = 0xff
)

// LoadOption is the content of a Boot#### variable (UEFI specification
// section 3.1.3).
type LoadOption struct {
	Attributes uint32
	Label      string
	DevicePath []byte // nodes, with the end node
	Options    []byte // given to the loader
}

// ParseLoadOption reads a variable's content. It is pure.
func ParseLoadOption(b []byte) (LoadOption, error) {
	le := binary.LittleEndian
	if len(b) < 8 {
		return LoadOption{}, fmt.Errorf("%w of %d bytes, expected at least 8", ErrLoadOption, len(b))
	}
	o := LoadOption{Attributes: le.Uint32(b)}
	paths := int(le.Uint16(b[4:]))
	var label []uint16
	rest := b[6:]
	for {
		if len(rest) < 2 {
			return LoadOption{}, fmt.Errorf("%w: its label does not end", ErrLoadOption)
		}
		c := le.Uint16(rest)
		rest = rest[2:]
		if c == 0 {
			break
		}
		label = append(label, c)
	}
	if paths > len(rest) {
		return LoadOption{}, fmt.Errorf("%w: device path of %d bytes, %d are there", ErrLoadOption, paths, len(rest))
	}
	o.Label = string(utf16.Decode(label))
	o.DevicePath = rest[:paths:paths]
	o.Options = rest[paths:]
	return o, nil
}

// Bytes renders the variable's content.
func (o LoadOption) Bytes() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, o.Attributes)
	b = le.AppendUint16(b, uint16(len(o.DevicePath)))
	b = append(b, utf16Bytes(o.Label)...)
	b = append(b, o.DevicePath...)
	return append(b, o.Options...)
}

// utf16Bytes is s as a zero-terminated CHAR16 string.
func utf16Bytes(s string) []byte {
	var b []byte
	for _, u := range append(utf16.Encode([]rune(s)), 0) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// diskPath is the short device path of a file on a partition: HD(), which
// firmware expands to the disk that carries the signature, and the file.
func diskPath(t *Table, p Part, sector int64, file string) []byte {
	le := binary.LittleEndian
	hd := make([]byte, 42)
	hd[0], hd[1] = nodeMedia, nodeHD
	le.PutUint16(hd[2:], 42)
	le.PutUint32(hd[4:], uint32(p.Number))
	le.PutUint64(hd[8:], uint64(p.Start/sector))
	le.PutUint64(hd[16:], uint64(p.Size/sector))
	if t.GPT != nil {
		copy(hd[24:], p.ID[:])
		hd[40], hd[41] = 2, 2 // GPT, signature is a GUID
	} else {
		le.PutUint32(hd[24:], t.MBR.Signature)
		hd[40], hd[41] = 1, 1 // MBR, signature of 4 bytes
	}
	name := utf16Bytes(file)
	node := []byte{nodeMedia, nodeFile}
	node = le.AppendUint16(node, uint16(4+len(name)))
	out := append(hd, node...)
	out = append(out, name...)
	return append(out, nodeEnd, nodeEndWhole, 4, 0)
}
