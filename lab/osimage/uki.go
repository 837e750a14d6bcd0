package osimage

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

const (
	// stubPath is systemd's EFI stub, of Debian's systemd-boot-efi.
	stubPath = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
	// consoleArgs: the last console is the one /dev/console means. A chatty kernel
	// costs a second on an emulated serial port.
	consoleArgs = "console=tty0 console=ttyS0,115200 quiet"
)

// uki is a unified kernel image: one EFI program made of systemd's stub and, as more PE
// sections, what the stub boots
// (https://uapi-group.org/specifications/specs/unified_kernel_image/).
type uki struct {
	Stub      []byte // systemd's linuxx64.efi.stub
	OSRelease string
	Cmdline   string
	Kernel    []byte // bzImage
	Initramfs []byte
}

// Offsets in a PE32+ file, Microsoft PE format specification, "COFF File Header" and
// "Optional Header".
const (
	peOffsetAt        = 0x3c // in the DOS header
	peSignatureSize   = 4
	coffSections      = 2 // from the COFF header: number of sections, u16
	coffSymbols       = 8 // symbol table offset and count, two u32
	coffHeaderSize    = 20
	optImageSize      = 56 // from the optional header: u32 each
	optHeadersSize    = 60
	sectionHeaderSize = 40
	// sectionFlags: initialised data, readable.
	sectionFlags = 0x40000040
	// pageSize aligns sections in memory.
	pageSize = 4096
	// fileAlign is the file alignment of the stub, and the block every loader can read.
	fileAlign = 512
)

// bytes renders the image. The kernel goes last: the stub starts it in place, and
// before it has moved itself it uses memory beyond its file, up to the init_size its
// header asks for (Linux boot protocol 2.10).
func (u uki) bytes() ([]byte, error) {
	initSize, err := kernelInitSize(u.Kernel)
	if err != nil {
		return nil, err
	}
	img, err := openStub(u.Stub)
	if err != nil {
		return nil, err
	}
	sections := []struct {
		name    string
		content []byte
		memory  int
	}{
		{".osrel", []byte(u.OSRelease), 0},
		{".cmdline", []byte(u.Cmdline), 0},
		{".initrd", u.Initramfs, 0},
		{".linux", u.Kernel, initSize},
	}
	for _, s := range sections {
		if err := img.add(s.name, s.content, s.memory); err != nil {
			return nil, err
		}
	}
	return img.data, nil
}

func kernelInitSize(kernel []byte) (int, error) {
	const magicAt, initSizeAt = 0x202, 0x260
	if len(kernel) < initSizeAt+4 || string(kernel[magicAt:magicAt+4]) != "HdrS" {
		return 0, errors.New("unified kernel image: expected a bzImage, found no HdrS at 0x202")
	}
	return int(binary.LittleEndian.Uint32(kernel[initSizeAt:])), nil
}

// peImage is a PE file that grows.
type peImage struct {
	data    []byte
	coff    int // offset of the COFF header
	opt     int // of the optional header
	headers int // end of the room for section headers
	memory  int // first free address
}

func openStub(stub []byte) (*peImage, error) {
	file, err := pe.NewFile(bytes.NewReader(stub))
	if err != nil {
		return nil, fmt.Errorf("unified kernel image: stub: %w", err)
	}
	if _, ok := file.OptionalHeader.(*pe.OptionalHeader64); !ok || file.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
		return nil, fmt.Errorf("unified kernel image: stub is for machine %#x, expected a PE32+ file for x86-64",
			file.Machine)
	}
	img := &peImage{}
	img.coff = int(binary.LittleEndian.Uint32(stub[peOffsetAt:])) + peSignatureSize
	img.opt = img.coff + coffHeaderSize
	img.headers = int(binary.LittleEndian.Uint32(stub[img.opt+optHeadersSize:]))
	end := img.headers
	for _, s := range file.Sections {
		end = max(end, int(s.Offset+s.Size))
		img.memory = max(img.memory, alignUp(int(s.VirtualAddress+s.VirtualSize), pageSize))
	}
	if end > len(stub) {
		return nil, fmt.Errorf("unified kernel image: stub of %d bytes has sections up to %d", len(stub), end)
	}
	// Behind the sections there is only the symbol table, which no loader reads.
	img.data = bytes.Clone(stub[:end])
	clear(img.data[img.coff+coffSymbols : img.coff+coffSymbols+8])
	return img, nil
}

// add appends a section. memory is how much room it needs once loaded, if more than its
// content.
func (img *peImage) add(name string, content []byte, memory int) error {
	count := binary.LittleEndian.Uint16(img.data[img.coff+coffSections:])
	optSize := int(binary.LittleEndian.Uint16(img.data[img.coff+16:]))
	at := img.opt + optSize + int(count)*sectionHeaderSize
	if at+sectionHeaderSize > img.headers {
		return fmt.Errorf("unified kernel image: stub has no room for the header of section %s", name)
	}
	img.data = append(img.data, make([]byte, alignUp(len(img.data), fileAlign)-len(img.data))...)
	stored := alignUp(len(content), fileAlign)
	header := img.data[at : at+sectionHeaderSize]
	copy(header, name)
	for i, value := range []int{len(content), img.memory, stored, len(img.data)} {
		binary.LittleEndian.PutUint32(header[8+4*i:], uint32(value))
	}
	binary.LittleEndian.PutUint32(header[36:], sectionFlags)
	binary.LittleEndian.PutUint16(img.data[img.coff+coffSections:], count+1)

	img.data = append(img.data, content...)
	img.data = append(img.data, make([]byte, stored-len(content))...)
	img.memory = alignUp(img.memory+max(len(content), memory), pageSize)
	binary.LittleEndian.PutUint32(img.data[img.opt+optImageSize:], uint32(img.memory))
	return nil
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// writeUKI makes the unified kernel image at out from files.
func writeUKI(out, release, cmdline, kernel, initramfs string) error {
	u := uki{OSRelease: release, Cmdline: cmdline}
	for _, part := range []struct {
		content *[]byte
		path    string
	}{{&u.Stub, stubPath}, {&u.Kernel, kernel}, {&u.Initramfs, initramfs}} {
		var err error
		if *part.content, err = os.ReadFile(part.path); err != nil {
			return fmt.Errorf("unified kernel image: %w", err)
		}
	}
	image, err := u.bytes()
	if err != nil {
		return err
	}
	return os.WriteFile(out, image, 0o644)
}
