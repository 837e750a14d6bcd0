// Package qemutest makes the smallest guests there are, for tests of the lab:
// a boot sector that says a line on the serial port and then does one thing.
// It is for tests only and must not be used to run anything real.
package qemutest

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Act is a guest's action, in machine code for real mode at 0000:7C00, on the chipset of QEMU's q35.
type Act struct {
	before []byte // it says its line
	after  []byte
}

// Halt stays on: hlt in a loop.
func Halt() Act { return Act{after: halt()} }

func halt() []byte { return []byte{0xf4, 0xeb, 0xfd} }

// PowerOff writes sleep state S5 to ACPI's PM1a control (port 604).
func PowerOff() Act { return Act{after: powerOff()} }

func powerOff() []byte {
	return slices.Concat([]byte{0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef}, halt())
}

// Reset writes a hard reset to the reset control register (port CF9).
func Reset() Act {
	return Act{after: slices.Concat([]byte{0xba, 0xf9, 0x0c, 0xb0, 0x06, 0xee}, halt())}
}

// WaitButton powers off when the power button is pressed, as an operating
// system does: it enables ACPI's event for it (port 602) before it says its
// line, so that a test may press from then on, and polls for it (port 600).
func WaitButton() Act {
	return Act{
		before: []byte{0xba, 0x02, 0x06, 0xb8, 0x00, 0x01, 0xef},
		after:  slices.Concat([]byte{0xba, 0x00, 0x06, 0xed, 0xa9, 0x00, 0x01, 0x74, 0xf7}, powerOff()),
	}
}

const (
	sectorSize = 512
	loadedAt   = 0x7c00
	// messageAt is where in the printer the address of the message goes.
	messageAt = 5
)

// printer sends the message at DS:SI to the first serial port, waiting for
// the transmitter before each octet, and falls into the act behind it.
func printer() []byte {
	return []byte{
		0x31, 0xc0, 0x8e, 0xd8, // ax = ds = 0
		0xbe, 0, 0, // mov si, message
		0xac, 0x84, 0xc0, 0x74, 0x12, // next octet, 0 ends
		0x88, 0xc4, 0xba, 0xfd, 0x03, 0xec, 0xa8, 0x20, 0x74, 0xf8, // line status, bit 5
		0x88, 0xe0, 0xba, 0xf8, 0x03, 0xee, // out
		0xeb, 0xe9,
	}
}

// BootSector is a 512-octet sector that says line and then acts. It boots
// from a disk and, without emulation, from a CD.
func BootSector(line string, act Act) ([]byte, error) {
	code := slices.Concat(act.before, printer(), act.after)
	binary.LittleEndian.PutUint16(code[len(act.before)+messageAt:], uint16(loadedAt+len(code)))
	sector := slices.Concat(code, []byte(line+"\r\n"), []byte{0})
	if len(sector) > sectorSize-2 {
		return nil, fmt.Errorf("boot sector: line of %d octets does not fit", len(line))
	}
	sector = append(sector, make([]byte, sectorSize-len(sector))...)
	sector[sectorSize-2], sector[sectorSize-1] = 0x55, 0xaa
	return sector, nil
}
