package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ferrite-metal/ferrite/images/configdrive"
)

// Role is the purpose of a partition of a Layout, under the name that
// ironic-python-agent reports.
type Role string

// The roles, in the order their partitions have on a disk. The root is the
// last, so that an operating system can make it larger at its first boot.
const (
	RoleESP         Role = "efi system partition"
	RoleBIOSBoot    Role = "BIOS Boot partition"
	RoleEphemeral   Role = "ephemeral"
	RoleSwap        Role = "swap"
	RoleConfigDrive Role = "configdrive"
	RoleRoot        Role = "root"
)

// Sizes of the partitions to boot from, ironic-python-agent's defaults.
const (
	layoutESP  = 550 * mib
	layoutBIOS = 1 * mib
)

// Layout is the division of a disk for a partition image.
type Layout struct {
	GPT         bool // else an MBR
	UEFI        bool // else the machine boots by BIOS
	Ephemeral   int64
	Swap        int64
	ConfigDrive bool
	Root        int64 // sizes in bytes, whole MiB; 0 for none, which the root cannot be
}

// slot is a partition that is to be.
type slot struct {
	role    Role
	size    int64
	guid    string
	mbrType byte
	name    string
}

// slots are the partitions in order.
func (l Layout) slots() []slot {
	var all []slot
	for _, s := range []slot{
		{RoleESP, ifTrue(l.UEFI, layoutESP), typeESP, mbrESP, "esp"},
		{RoleBIOSBoot, ifTrue(l.GPT && !l.UEFI, layoutBIOS), typeBIOSBoot, 0, "bios"},
		{RoleEphemeral, l.Ephemeral, typeLinuxData, mbrLinux, "ephemeral"},
		{RoleSwap, l.Swap, typeLinuxSwap, mbrSwap, "swap"},
		{RoleConfigDrive, ifTrue(l.ConfigDrive, configDriveRoom), typeLinuxData, mbrLinux, configdrive.Label},
		{RoleRoot, l.Root, typeLinuxData, mbrLinux, "root"},
	} {
		if s.size > 0 {
			all = append(all, s)
		}
	}
	return all
}

func ifTrue(is bool, size int64) int64 {
	if is {
		return size
	}
	return 0
}

// Size is the least size of the disk in bytes: the table and its backup take a MiB
// each.
func (l Layout) Size() int64 {
	n := int64(2 * mib)
	for _, s := range l.slots() {
		n += s.size
	}
	return n
}

// Division is a table that is to be written, and which partition is which.
type Division struct {
	table *Table
	kept  Role
	Parts map[Role]Part
}

// Divide makes the table of a layout, and writes nothing yet. It refuses a layout that
// does not fit.
func Divide(d Disk, l Layout, random io.Reader) (*Division, error) {
	if need := l.Size(); d.Size() < need {
		return nil, fmt.Errorf("%w: the disk has %d bytes, its partitions take %d", ErrTable, d.Size(), need)
	}
	t, err := newTable(d, l.GPT, random)
	if err != nil {
		return nil, err
	}
	slots := l.slots()
	if t.MBR != nil && len(slots) > 4 {
		return nil, fmt.Errorf("%w: %d partitions are more than an MBR has room for: "+
			"ask for a GPT (capabilities disk_label:gpt)", ErrTable, len(slots))
	}
	for _, s := range slots {
		if err := t.addNext(d, s, !l.UEFI && s.role == RoleRoot, random); err != nil {
			return nil, fmt.Errorf("partition for %s: %w", s.role, err)
		}
	}
	v := &Division{table: t, Parts: map[Role]Part{}}
	for i, p := range t.Parts() {
		v.Parts[slots[i].role] = p
	}
	return v, nil
}

// newTable makes an empty table.
func newTable(d Disk, gpt bool, random io.Reader) (*Table, error) {
	id, err := newGUID(random)
	if err != nil {
		return nil, err
	}
	if gpt {
		return &Table{GPT: NewGPT(d, id)}, nil
	}
	return &Table{MBR: NewMBR(d, binary.LittleEndian.Uint32(id[:]))}, nil
}

// addNext adds a partition behind the others.
func (t *Table) addNext(d Disk, s slot, active bool, random io.Reader) error {
	if t.GPT == nil {
		return t.MBR.AddNext(d, s.size, s.mbrType, active)
	}
	kind, err := ParseGUID(s.guid)
	if err != nil {
		return err
	}
	_, err = t.GPT.AddNext(s.size, kind, s.name, random)
	return err
}

// ErrNotKept is wrapped when a partition that is to be kept is not where it
// would be.
var ErrNotKept = errors.New("the partition to be kept is not there")

// Keep keeps the existing partition of a role, with its content and its names (GUID of
// the entry, identifier of the table). It must lie where the layout has it.
func (v *Division) Keep(d Disk, role Role) error {
	want, ok := v.Parts[role]
	if !ok {
		return fmt.Errorf("%w: none is wanted for %s", ErrNotKept, role)
	}
	old, err := ReadTable(d)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	if (old.GPT != nil) != (v.table.GPT != nil) {
		return fmt.Errorf("%w: the disk's partition table is of the other kind, GPT or MBR", ErrNotKept)
	}
	for _, p := range old.Parts() {
		if p.Number != want.Number {
			continue
		}
		if p.Start != want.Start || p.Size != want.Size {
			return fmt.Errorf("%w: partition %d for %s would be the %d bytes at %d, found %d bytes at %d", ErrNotKept, p.Number,
				role, want.Size, want.Start, p.Size, p.Start)
		}
		v.kept = role
		return v.takeOver(old, p)
	}
	return fmt.Errorf("%w: the disk has no partition %d, which would be for %s", ErrNotKept, want.Number, role)
}

// takeOver gives table and partition their old identifiers.
func (v *Division) takeOver(old *Table, p Part) error {
	if v.table.MBR != nil {
		v.table.MBR.sign(old.MBR.Signature)
		return nil
	}
	v.table.GPT.DiskID = old.GPT.DiskID
	for _, e := range v.table.GPT.Partitions() {
		if e.Number == p.Number {
			e.ID = p.ID
			v.Parts[v.kept] = p
			return v.table.GPT.set(e)
		}
	}
	return nil
}

// Write wipes the metadata of earlier systems, at the edges of the new partitions too,
// and writes the table. A partition that is kept is not touched, and the table with its
// place is there until the new one is. The caller then has the kernel read it.
func (v *Division) Write(ctx context.Context, d Disk) error {
	w := &wiper{d: d}
	parts := formerContents(d)
	for role, p := range v.Parts {
		if role == v.kept {
			w.kept = append(v.table.places(d), p)
		}
		parts = append(parts, p)
	}
	if err := w.all(ctx, sections(d, parts)...); err != nil {
		return err
	}
	if v.table.MBR != nil {
		return errors.Join(writeAt(d, v.table.MBR.boot, 0), d.Flush())
	}
	if err := d.Zero(0, int64(d.LogicalSectorSize())); err != nil { // boot code, entries of a hybrid MBR
		return fmt.Errorf("zero the boot sector: %w", err)
	}
	return v.table.GPT.Write(d)
}

// places are where a table lies on d.
func (t *Table) places(d Disk) []Part {
	sector := int64(d.LogicalSectorSize())
	if t.MBR != nil {
		return []Part{{Size: sector}}
	}
	end := (t.GPT.LastUsable + 1) * sector
	return []Part{{Size: t.GPT.FirstUsable * sector}, {Start: end, Size: d.Size() - end}}
}

// PartUUID is Linux's name for a partition (PARTUUID): the GUID of its entry, or in an MBR the disk's signature and
// its number.
func (t *Table) PartUUID(p Part) string {
	if t.GPT != nil {
		return p.ID.String()
	}
	return fmt.Sprintf("%08x-%02x", t.MBR.Signature, p.Number)
}

// PartUUID is the PARTUUID of a role's partition.
func (v *Division) PartUUID(role Role) string { return v.table.PartUUID(v.Parts[role]) }
