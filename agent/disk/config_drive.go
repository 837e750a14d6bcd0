package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ferrite-metal/ferrite/images/configdrive"
)

// configDriveRoom is the size of the partition where there is room, so that a
// rebuild's larger config drive fits too; it is also Ironic's.
const configDriveRoom = configdrive.MaxSize

// WriteConfigDrive puts a config drive (an ISO 9660 or VFAT image labelled config-2)
// into a partition of its own at the disk's end, and replaces an existing one. Linux
// mounts neither ISO 9660 nor a VFAT of smaller sectors from sectors of 4096 bytes:
// there it becomes a VFAT of such sectors. random names a new GPT partition:
// crypto/rand.Reader, but for tests. The caller then has the kernel read the table
// again.
func WriteConfigDrive(d Disk, image []byte, random io.Reader) (Part, error) {
	image, err := checkedDrive(d, image)
	if err != nil {
		return Part{}, err
	}
	if err := FitGPT(d); err != nil && !errors.Is(err, ErrNoTable) {
		return Part{}, fmt.Errorf("config drive: %w", err)
	}
	t, err := ReadTable(d)
	if err != nil {
		return Part{}, fmt.Errorf("config drive needs a partition of its own: %w", err)
	}
	p, err := configDrivePart(d, t, int64(len(image)), random)
	if err != nil {
		return Part{}, fmt.Errorf("config drive: %w", err)
	}
	return p, fillPart(d, p, image)
}

// checkedDrive is a config drive as the disk's sectors want it.
func checkedDrive(d Disk, image []byte) ([]byte, error) {
	if len(image) == 0 || len(image) > configdrive.MaxSize {
		return nil, fmt.Errorf("config drive of %d bytes: expected 1 to %d", len(image), configdrive.MaxSize)
	}
	return driveFor(image, d.LogicalSectorSize())
}

// FillConfigDrive is WriteConfigDrive for a partition that is there for it.
func FillConfigDrive(d Disk, p Part, image []byte) error {
	image, err := checkedDrive(d, image)
	if err != nil {
		return err
	}
	return fillPart(d, p, image)
}

// configDrivePart finds the partition to use or makes it.
func configDrivePart(d Disk, t *Table, size int64, random io.Reader) (Part, error) {
	for _, p := range t.Parts() {
		is, err := isConfigDrive(d, p)
		if err != nil {
			return Part{}, err
		}
		if !is {
			continue
		}
		if p.Size >= size {
			return p, nil
		}
		if p.Number > 4 && t.MBR != nil {
			return Part{}, fmt.Errorf("%w: partition %d is too small for %d bytes and not a primary one", ErrTable,
				p.Number, size)
		}
		t.remove(p.Number)
	}
	number, err := t.addLast(d, configDriveRoom, random)
	if err != nil {
		// A full disk may still have room for the present need.
		number, err = t.addLast(d, (size+mib-1)/mib*mib, random)
	}
	if err != nil {
		return Part{}, err
	}
	for _, p := range t.Parts() {
		if p.Number == number {
			return p, t.write(d)
		}
	}
	return Part{}, fmt.Errorf("%w: partition %d is not in the table it was added to", ErrTable, number)
}

// remove frees a partition's entry.
func (t *Table) remove(number int) {
	if t.GPT != nil {
		t.GPT.Remove(number)
		return
	}
	t.MBR.Remove(number)
}

// addLast adds a Linux partition at the end and returns its number.
func (t *Table) addLast(d Disk, size int64, random io.Reader) (int, error) {
	if t.GPT == nil {
		p, err := t.MBR.AddLast(d, size, mbrLinux)
		return p.Number, err
	}
	kind, err := ParseGUID(typeLinuxData)
	if err != nil {
		return 0, err
	}
	p, err := t.GPT.AddLast(size, kind, configdrive.Label, random)
	return p.Number, err
}

// write puts the table on d.
func (t *Table) write(d Disk) error {
	if t.GPT != nil {
		return t.GPT.Write(d)
	}
	return t.MBR.Write(d)
}

// isConfigDrive recognises a partition by its name or its filesystem's label.
func isConfigDrive(d Disk, p Part) (bool, error) {
	if p.Size > 2*configDriveRoom {
		return false, nil
	}
	if p.Name == configdrive.Label {
		return true, nil
	}
	label, err := volumeLabel(section{d, p.Start, p.Size})
	return strings.EqualFold(label, configdrive.Label), err
}

// volumeLabel reads the label of an ISO 9660 or FAT filesystem.
func volumeLabel(s section) (string, error) {
	const isoAt = 16 * 2048
	if s.len >= isoAt+2048 {
		b, err := readAt(s, isoAt, 72)
		if err != nil {
			return "", err
		}
		if bytes.Equal(b[:6], []byte("\x01CD001")) {
			return strings.TrimRight(string(b[40:72]), " \x00"), nil
		}
	}
	if s.len < 512 {
		return "", nil
	}
	b, err := readAt(s, 0, 512)
	if err != nil || b[510] != 0x55 || b[511] != 0xaa {
		return "", err
	}
	switch {
	case bytes.HasPrefix(b[82:], []byte("FAT32")):
		return strings.TrimRight(string(b[71:82]), " \x00"), nil
	case bytes.HasPrefix(b[54:], []byte("FAT1")):
		return strings.TrimRight(string(b[43:54]), " \x00"), nil
	}
	return "", nil
}

// fillPart writes an image into a partition, zeroes the rest of it and reads
// the image back.
func fillPart(d Disk, p Part, image []byte) error {
	sector := int64(d.LogicalSectorSize())
	if err := writeAt(d, image, p.Start); err != nil {
		return fmt.Errorf("partition %d: %w", p.Number, err)
	}
	end := p.Start + (int64(len(image))+sector-1)/sector*sector
	if rest := p.Start + p.Size - end; rest > 0 {
		if err := d.Zero(end, rest); err != nil {
			return fmt.Errorf("partition %d: zero %d bytes at %d: %w", p.Number, rest, end, err)
		}
	}
	if err := d.Flush(); err != nil {
		return fmt.Errorf("partition %d: flush: %w", p.Number, err)
	}
	back, err := readAt(d, p.Start, len(image))
	if err != nil {
		return fmt.Errorf("partition %d: %w", p.Number, err)
	}
	if !bytes.Equal(back, image) {
		return fmt.Errorf("partition %d does not read back as it was written", p.Number)
	}
	return nil
}
