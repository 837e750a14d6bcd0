package bootentry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Places in a PE file (Microsoft's PE format, "COFF File Header" and "Section Table").
const (
	peAt            = 0x3c // of the signature's place, in the DOS header
	dosHeader       = 0x40
	coffSize        = 4 + 20 // with the signature
	peSectionHeader = 40
	maxSections     = 96 // as Windows has it; a unified kernel image has some twenty
	maxSmall        = 64 << 10
)

// errNotPE says that a file is no EFI program.
var errNotPE = errors.New("no EFI program")

// peSection is a section of an EFI program: where in the file its content is.
type peSection struct {
	name     string
	at, size int64
}

// peSections reads the section table of a file.
func peSections(r io.ReaderAt, size int64) ([]peSection, error) {
	if size < dosHeader {
		return nil, errNotPE
	}
	dos, err := readAt(r, 0, dosHeader)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	at := int64(le.Uint32(dos[peAt:]))
	if string(dos[:2]) != "MZ" || at+coffSize > size {
		return nil, errNotPE
	}
	coff, err := readAt(r, at, coffSize)
	if err != nil {
		return nil, err
	}
	if string(coff[:4]) != "PE\x00\x00" {
		return nil, errNotPE
	}
	count := int64(le.Uint16(coff[6:]))
	table := at + coffSize + int64(le.Uint16(coff[20:]))
	if count > maxSections || table+count*peSectionHeader > size {
		return nil, fmt.Errorf("%w: it has %d sections in %d bytes", errNotPE, count, size)
	}
	b, err := readAt(r, table, count*peSectionHeader)
	if err != nil {
		return nil, err
	}
	var all []peSection
	for ; len(b) > 0; b = b[peSectionHeader:] {
		name, _, _ := bytes.Cut(b[:8], []byte{0})
		memory, stored, at := int64(le.Uint32(b[8:])), int64(le.Uint32(b[16:])), int64(le.Uint32(b[20:]))
		s := peSection{string(name), at, min(memory, stored)} // stored is rounded up
		if s.at+s.size > size {
			return nil, fmt.Errorf("%w: section %s ends at %d, the file at %d", errNotPE, s.name, s.at+s.size, size)
		}
		all = append(all, s)
	}
	return all, nil
}

// find is the first section of a name.
func find(all []peSection, name string) (peSection, bool) {
	for _, s := range all {
		if s.name == name {
			return s, true
		}
	}
	return peSection{}, false
}

// text reads a small section, up to its first zero.
func (s peSection) text(r io.ReaderAt) (string, error) {
	if s.size > maxSmall {
		return "", fmt.Errorf("section %s has %d bytes, expected at most %d", s.name, s.size, maxSmall)
	}
	b, err := readAt(r, s.at, s.size)
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b), err
}
