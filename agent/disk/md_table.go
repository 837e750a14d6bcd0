package disk

import (
	"context"
	"fmt"
	"io"
)

// The partition before RAID members on a disk. With UEFI it is an EFI system
// partition, as large as ironic-python-agent makes it. On a GPT with BIOS it is the
// partition for the second stage of boot loaders.
const (
	memberESP  = 550 * mib
	memberBIOS = 7 * mib
)

// MemberTableRoom is the space of a table and of the partition before the members, in
// bytes.
func MemberTableRoom(uefi bool) int64 {
	if uefi {
		return 2*mib + memberESP
	}
	return 2*mib + memberBIOS
}

// WriteMemberTable divides a disk that was wiped: the partition to boot from,
// then one for each of sizes, which are those it returns.
func WriteMemberTable(d Disk, uefi bool, sizes []int64, random io.Reader) ([]Part, error) {
	id, err := newGUID(random)
	if err != nil {
		return nil, err
	}
	g := NewGPT(d, id)
	if err := addBoot(g, uefi, random); err != nil {
		return nil, err
	}
	kind, err := ParseGUID(typeLinuxRAID)
	if err != nil {
		return nil, err
	}
	for i, size := range sizes {
		if _, err := g.AddNext(size, kind, fmt.Sprintf("raid%d", i), random); err != nil {
			return nil, err
		}
	}
	parts := (&Table{GPT: g}).Parts()
	if err := (&wiper{d: d}).all(context.Background(), partSection(d, parts[0])); err != nil {
		return nil, err
	}
	return parts[1:], g.Write(d)
}

// addBoot adds the partition that the machine's firmware boots from.
func addBoot(g *GPT, uefi bool, random io.Reader) error {
	size, name, text := int64(memberBIOS), "bios", typeBIOSBoot
	if uefi {
		size, name, text = memberESP, "esp", typeESP
	}
	kind, err := ParseGUID(text)
	if err != nil {
		return err
	}
	_, err = g.AddNext(size, kind, name, random)
	return err
}

// CopyESP copies an EFI system partition of one disk over one of another,
// which may be larger, and reads it back.
func CopyESP(to Disk, toPart Part, from Disk, fromPart Part) error {
	if fromPart.Size > toPart.Size {
		return fmt.Errorf("the image's EFI system partition has %d bytes, there is room for %d", fromPart.Size, toPart.Size)
	}
	for off := int64(0); off < fromPart.Size; off += mib {
		b, err := readAt(from, fromPart.Start+off, int(min(mib, fromPart.Size-off)))
		if err != nil {
			return err
		}
		if err := writeAt(to, b, toPart.Start+off); err != nil {
			return err
		}
	}
	if err := to.Flush(); err != nil {
		return err
	}
	return sameBytes(to, toPart.Start, from, fromPart.Start, fromPart.Size)
}

// sameBytes compares two ranges.
func sameBytes(a io.ReaderAt, aOff int64, b io.ReaderAt, bOff, n int64) error {
	for off := int64(0); off < n; off += mib {
		size := int(min(mib, n-off))
		x, err := readAt(a, aOff+off, size)
		if err != nil {
			return err
		}
		y, err := readAt(b, bOff+off, size)
		if err != nil {
			return err
		}
		if string(x) != string(y) {
			return fmt.Errorf("the copy of %d bytes at %d does not read back as it was written", size, aOff+off)
		}
	}
	return nil
}
