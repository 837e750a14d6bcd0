package disk

import (
	"errors"
	"fmt"
	"slices"
)

// Table is a disk's partition table, of either kind.
type Table struct {
	GPT *GPT // one of the two is nil
	MBR *MBR
}

// Part is a partition of either kind, in bytes.
type Part struct {
	Number int
	Start  int64
	Size   int64
	Type   string // a GUID, or "0x83" in an MBR
	Name   string // of a GPT entry
	ID     GUID   // of a GPT entry
	Active bool   // marked for a BIOS to boot from
}

// legacyBoot is the attribute of a GPT entry that boot code for BIOS looks for (UEFI
// specification, table 5.8).
const legacyBoot = 1 << 2

// ReadTable reads the table firmware and Linux would use: a GPT where the MBR
// is protective or absent, else the MBR. ErrNoTable means there is none.
func ReadTable(d Disk) (*Table, error) {
	protective, err := protected(d)
	if err != nil {
		return nil, err
	}
	m, mbrErr := ReadMBR(d)
	if !protective && !errors.Is(mbrErr, ErrNoTable) {
		if mbrErr != nil {
			return nil, mbrErr
		}
		return &Table{MBR: m}, nil
	}
	g, err := ReadGPT(d)
	switch {
	case err == nil:
		return &Table{GPT: g}, nil
	case errors.Is(err, ErrLater): // of the backup
		return nil, err
	case errors.Is(err, ErrNoTable) && protective:
		return nil, fmt.Errorf("%w: the MBR says there is a GPT, but there is none", ErrTable)
	}
	return nil, err
}

// Parts lists the partitions, without the container of an MBR's logical ones.
func (t *Table) Parts() []Part {
	var parts []Part
	if t.GPT != nil {
		sector := int64(t.GPT.sector)
		for _, p := range t.GPT.Partitions() {
			parts = append(parts, Part{Number: p.Number, Start: p.First * sector, Size: (p.Last - p.First + 1) * sector,
				Type: p.Type.String(), Name: p.Name, ID: p.ID, Active: p.Attributes&legacyBoot != 0})
		}
		return parts
	}
	sector := int64(t.MBR.sector)
	for _, p := range t.MBR.Partitions {
		if !p.extended() {
			parts = append(parts, Part{Number: p.Number, Start: p.First * sector, Size: p.Sectors * sector,
				Type: mbrType(p.Type), Active: p.Active})
		}
	}
	return parts
}

// mbrType is a type byte as Part has it.
func mbrType(b byte) string { return fmt.Sprintf("0x%02x", b) }

// espTypes are the types of an EFI system partition.
func espTypes() []string { return []string{typeESP, mbrType(mbrESP)} }

// ESP finds the first EFI system partition.
func (t *Table) ESP() (Part, bool) { return first(t.ofType(espTypes()...)) }

// BIOSBoot finds the partition into which boot loaders for BIOS put their second
// stage on a GPT. In an MBR it goes before the first partition.
func (t *Table) BIOSBoot() (Part, bool) { return first(t.ofType(typeBIOSBoot)) }

// ofType lists the partitions of some types.
func (t *Table) ofType(types ...string) []Part {
	return slices.DeleteFunc(t.Parts(), func(p Part) bool { return !slices.Contains(types, p.Type) })
}

func first(parts []Part) (Part, bool) {
	if len(parts) == 0 {
		return Part{}, false
	}
	return parts[0], true
}
