package osimage

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeStub is a PE32+ file with one section, a symbol table behind it, and room for
// spare more section headers.
func fakeStub(spare int) []byte {
	const headers = 0x400
	b := make([]byte, headers+fileAlign)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[peOffsetAt:], 0x80)
	copy(b[0x80:], "PE\x00\x00")
	coff := b[0x84:]
	binary.LittleEndian.PutUint16(coff, pe.IMAGE_FILE_MACHINE_AMD64)
	binary.LittleEndian.PutUint16(coff[coffSections:], 1)
	binary.LittleEndian.PutUint32(coff[coffSymbols:], uint32(len(b)))
	binary.LittleEndian.PutUint32(coff[coffSymbols+4:], 1)
	binary.LittleEndian.PutUint16(coff[16:], 240)
	opt := coff[coffHeaderSize:]
	binary.LittleEndian.PutUint16(opt, 0x20b)
	binary.LittleEndian.PutUint32(opt[108:], 16) // data directories
	table := opt[240:]
	copy(table, ".text")
	for i, v := range []uint32{100, 0x4000, fileAlign, headers} {
		binary.LittleEndian.PutUint32(table[8+4*i:], v)
	}
	end := 0x84 + coffHeaderSize + 240 + (1+spare)*sectionHeaderSize
	binary.LittleEndian.PutUint32(opt[optHeadersSize:], uint32(end))
	return append(b, make([]byte, 18+4)...)
}

func fakeBzImage(initSize uint32) []byte {
	b := make([]byte, 0x300)
	copy(b[0x202:], "HdrS")
	binary.LittleEndian.PutUint32(b[0x260:], initSize)
	return b
}

func TestUKI(t *testing.T) {
	const initSize = 0x123456
	kernel := fakeBzImage(initSize)
	data, err := uki{Stub: fakeStub(4), OSRelease: "ID=x\n", Cmdline: "quiet", Kernel: kernel,
		Initramfs: bytes.Repeat([]byte("i"), 5000)}.bytes()
	if err != nil {
		t.Fatal(err)
	}
	file, err := pe.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name              string
		Address, Size, At uint32
	}
	var got []row
	for _, s := range file.Sections {
		got = append(got, row{s.Name, s.VirtualAddress, s.VirtualSize, s.Offset})
	}
	want := []row{
		{".text", 0x4000, 100, 0x400},
		{".osrel", 0x5000, 5, 0x600},
		{".cmdline", 0x6000, 5, 0x800},
		{".initrd", 0x7000, 5000, 0xa00},
		{".linux", 0x9000, 0x300, 0x1e00},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if content, err := file.Section(".linux").Data(); err != nil || !bytes.HasPrefix(content, kernel) {
		t.Errorf("kernel section: %v", err)
	}
	if size := file.OptionalHeader.(*pe.OptionalHeader64).SizeOfImage; size != 0x9000+0x124000 {
		t.Errorf("image size %#x leaves the kernel no room to start in", size)
	}
}

func TestUKIRefuses(t *testing.T) {
	good := uki{Stub: fakeStub(4), Kernel: fakeBzImage(1)}
	tests := []struct {
		name   string
		change func(*uki)
		want   string
	}{
		{"no kernel", func(u *uki) { u.Kernel = []byte("MZ") }, "expected a bzImage"},
		{"no stub", func(u *uki) { u.Stub = []byte("#!/bin/sh") }, "stub"},
		{"no room", func(u *uki) { u.Stub = fakeStub(3) }, "no room for the header of section .linux"},
		{"cut stub", func(u *uki) {
			u.Stub = bytes.Clone(u.Stub[:0x500])
			clear(u.Stub[0x84+coffSymbols:][:8])
		}, "sections up to"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := good
			tt.change(&u)
			if _, err := u.bytes(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
