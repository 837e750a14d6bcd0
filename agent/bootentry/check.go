package bootentry

import (
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	maxText   = 1 << 20 // of a file of configuration, bytes
	maxFiles  = 1000    // of a folder of boot entries
	maxKernel = 256 << 20
	maxInitrd = 2 << 30 // all of an entry together
	// shortLine is the longest command line, bytes, where the kernel does not name it.
	shortLine = 2048 - 1
)

// Places in the header of a Linux kernel for x86 (Documentation/arch/x86/boot.rst).
const (
	headerMagicAt   = 0x202
	headerVersionAt = 0x206
	cmdlineSizeAt   = 0x238
	headerSize      = 0x268
	withCmdlineSize = 0x206 // the version since which the size is there
)

// check checks an entry's sizes against the kernel's own header.
func (e Entry) check(s System) error {
	switch {
	case e.Kernel.Size > maxKernel:
		return fmt.Errorf("kernel %s has %d bytes, expected at most %d", e.Kernel.Path, e.Kernel.Size, maxKernel)
	case strings.ContainsAny(e.CommandLine, "\x00\n\r"):
		return fmt.Errorf("the command line of %s has control characters: %q", e.Title, e.CommandLine)
	}
	var total int64
	for _, b := range e.Initrd {
		if total += b.Size; b.Size > maxInitrd || total > maxInitrd {
			return fmt.Errorf("the initial ramdisk of %s has over %d bytes", e.Title, maxInitrd)
		}
	}
	most, err := e.longestLine(s.Arch)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", e.Kernel.Path, err)
	}
	if len(e.CommandLine) > most {
		return fmt.Errorf("the command line of %s has %d bytes, its kernel takes %d", e.Title, len(e.CommandLine), most)
	}
	return nil
}

// longestLine is how long a command line the kernel takes. It refuses a file that is no
// kernel.
func (e Entry) longestLine(arch string) (int, error) {
	r, _, err := openAt(e.Kernel.files, e.Kernel.Path)
	if err != nil {
		return 0, err
	}
	defer r.Close() // only read from
	if e.Kernel.Size < headerSize {
		return 0, fmt.Errorf("expected a Linux kernel, found %d bytes", e.Kernel.Size)
	}
	b, err := readAt(r, e.Kernel.Offset, headerSize)
	if err != nil {
		return 0, err
	}
	if arch != "amd64" {
		const magicAt, magic = 0x38, "ARM\x64"
		if arch != "arm64" || string(b[magicAt:magicAt+4]) != magic {
			return 0, fmt.Errorf("expected a Linux kernel for %s that is not packed", arch)
		}
		return shortLine, nil
	}
	le := binary.LittleEndian
	if string(b[headerMagicAt:headerMagicAt+4]) != "HdrS" {
		return 0, fmt.Errorf("expected a Linux kernel for %s, found no HdrS at %#x", arch, headerMagicAt)
	}
	if le.Uint16(b[headerVersionAt:]) < withCmdlineSize {
		return 255, nil // as the kernel's documentation has it
	}
	return int(min(le.Uint32(b[cmdlineSizeAt:]), 1<<16)), nil
}
