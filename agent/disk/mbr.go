package disk

import (
	"encoding/binary"
	"fmt"
)

// MBR partition types that matter to us.
const (
	mbrProtective = 0xee
	mbrESP        = 0xef
	mbrSwap       = 0x82
	mbrLinux      = 0x83
	mbrVMFS       = 0xfb
	maxLogical    = 128     // partitions in an extended one we are willing to follow
	maxMBRSectors = 1 << 32 // the limit of an MBR
)

// MBR is a classic partition table.
type MBR struct {
	Signature  uint32 // the disk's, by which EFI boot entries name it
	Partitions []MBRPartition

	boot   []byte // the sector's first 512 bytes
	sector int
}

// MBRPartition is a partition of an MBR: primary 1 to 4, logical from 5.
type MBRPartition struct {
	Number  int
	Type    byte
	Active  bool
	First   int64 // sectors
	Sectors int64
}

// extended reports whether it is the container of logical partitions.
func (p MBRPartition) extended() bool { return p.Type == 0x05 || p.Type == 0x0f || p.Type == 0x85 }

// parseMBR reads the four entries of a boot sector. It is pure.
func parseMBR(b []byte) (*MBR, error) {
	if len(b) < 512 || b[510] != 0x55 || b[511] != 0xaa {
		return nil, ErrNoTable
	}
	m := &MBR{Signature: binary.LittleEndian.Uint32(b[440:]), boot: append([]byte(nil), b[:512]...)}
	for n := 1; n <= 4; n++ {
		p, flag := parseMBREntry(b[446+16*(n-1):], n)
		if flag&0x7f != 0 { // a filesystem's boot sector ends in 55 AA too
			return nil, ErrNoTable
		}
		if p.Type != 0 && p.Sectors > 0 {
			m.Partitions = append(m.Partitions, p)
		}
	}
	return m, nil
}

// parseMBREntry reads one entry.
func parseMBREntry(b []byte, number int) (p MBRPartition, flag byte) {
	le := binary.LittleEndian
	return MBRPartition{
		Number: number, Type: b[4], Active: b[0] == 0x80,
		First: int64(le.Uint32(b[8:])), Sectors: int64(le.Uint32(b[12:])),
	}, b[0]
}

// ReadMBR reads the table and the chain of logical partitions.
func ReadMBR(d Disk) (*MBR, error) {
	b, err := readAt(d, 0, 512)
	if err != nil {
		return nil, err
	}
	m, err := parseMBR(b)
	if err != nil {
		return nil, err
	}
	m.sector = d.LogicalSectorSize()
	if len(m.Partitions) == 0 {
		return nil, ErrNoTable
	}
	for _, p := range m.Partitions {
		if p.First == 0 || p.Type != mbrProtective && (p.First+p.Sectors)*int64(m.sector) > d.Size() {
			return nil, fmt.Errorf("%w: MBR partition %d, sectors %d to %d, lies outside the disk of %d bytes", ErrTable,
				p.Number, p.First, p.First+p.Sectors-1, d.Size())
		}
	}
	for _, p := range m.Partitions {
		if p.extended() {
			if err := m.readLogical(d, p); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// readLogical follows the chain within an extended partition: each link holds
// a partition relative to itself and the next link relative to the container.
func (m *MBR) readLogical(d Disk, container MBRPartition) error {
	sector := int64(m.sector)
	link := container.First
	for number := 5; number < 5+maxLogical; number++ {
		if link >= container.First+container.Sectors {
			return fmt.Errorf("%w: MBR chain of logical partitions leaves its container at sector %d", ErrTable, link)
		}
		b, err := readAt(d, link*sector, 512)
		if err != nil {
			return err
		}
		if b[510] != 0x55 || b[511] != 0xaa {
			return nil // an empty container
		}
		p, _ := parseMBREntry(b[446:], number)
		p.First += link
		if p.Type != 0 && p.Sectors > 0 {
			if (p.First+p.Sectors)*sector > d.Size() {
				return fmt.Errorf("%w: MBR partition %d lies outside the disk", ErrTable, number)
			}
			m.Partitions = append(m.Partitions, p)
		}
		next, _ := parseMBREntry(b[446+16:], 0)
		if !next.extended() || next.Sectors == 0 {
			return nil
		}
		link = container.First + next.First
	}
	return fmt.Errorf("%w: MBR has more than %d logical partitions, or their chain is a ring", ErrTable, maxLogical)
}

// Protective reports whether it is the MBR of a GPT disk.
func (m *MBR) Protective() bool {
	for _, p := range m.Partitions {
		if p.Type == mbrProtective {
			return true
		}
	}
	return false
}

// protected reports whether a disk has a protective MBR.
func protected(d Disk) (bool, error) {
	b, err := readAt(d, 0, 512)
	if err != nil {
		return false, err
	}
	m, err := parseMBR(b)
	return err == nil && m.Protective(), nil
}

// NewMBR makes an empty table for d, without boot code.
func NewMBR(d Disk, signature uint32) *MBR {
	m := &MBR{boot: make([]byte, 512), sector: d.LogicalSectorSize()}
	m.boot[510], m.boot[511] = 0x55, 0xaa
	m.sign(signature)
	return m
}

// sign sets the disk's signature.
func (m *MBR) sign(signature uint32) {
	m.Signature = signature
	binary.LittleEndian.PutUint32(m.boot[440:], signature)
}

// AddNext adds a primary partition of size bytes, whole MiB, right behind the
// last one. Nothing is written yet.
func (m *MBR) AddNext(d Disk, size int64, kind byte, active bool) error {
	sector := int64(m.sector)
	p := MBRPartition{Number: len(m.Partitions) + 1, Type: kind, Active: active, First: mib / sector,
		Sectors: size / sector}
	for _, before := range m.Partitions {
		p.First = max(p.First, before.First+before.Sectors)
	}
	if end := min(d.Size()/sector, maxMBRSectors); p.Number > 4 || p.First+p.Sectors > end {
		return fmt.Errorf("%w: no room for %d bytes in sectors %d to %d, as number %d: "+
			"an MBR has 4 primary partitions and addresses %d sectors, a GPT (capabilities disk_label:gpt) more",
			ErrTable, size, p.First, end-1, p.Number, int64(maxMBRSectors))
	}
	m.Partitions = append(m.Partitions, p)
	m.put(p)
	return nil
}

// AddLast adds a primary partition of size bytes at the end of an MBR's range on d, aligned to a MiB. Nothing is
// written yet.
func (m *MBR) AddLast(d Disk, size int64, kind byte) (MBRPartition, error) {
	sector := int64(m.sector)
	end := min(d.Size()/sector, maxMBRSectors)
	need := (size + sector - 1) / sector
	align := mib / sector
	first := (end - need) / align * align
	used := map[int]bool{}
	floor := align
	for n := 1; n <= 4; n++ { // an ISO image's own range may be of type 0 (xorriso's isohybrid)
		p, _ := parseMBREntry(m.boot[446+16*(n-1):], n)
		used[n] = p.Sectors > 0
		floor = max(floor, p.First+p.Sectors)
	}
	for _, p := range m.Partitions {
		floor = max(floor, p.First+p.Sectors)
	}
	if first < floor {
		return MBRPartition{}, fmt.Errorf("%w: no room for %d bytes behind the last partition: %d bytes are free there",
			ErrTable, size, max(0, end-floor)*sector)
	}
	for n := 1; n <= 4; n++ {
		if !used[n] {
			p := MBRPartition{Number: n, Type: kind, First: first, Sectors: need}
			m.Partitions = append(m.Partitions, p)
			m.put(p)
			return p, nil
		}
	}
	return MBRPartition{}, fmt.Errorf("%w: all 4 primary MBR partitions are in use", ErrTable)
}

// put stores a primary entry in the boot sector. The old head, track and sector figures hold the mark for larger
// values, as all tools write now.
func (m *MBR) put(p MBRPartition) {
	b := m.boot[446+16*(p.Number-1):][:16]
	clear(b)
	copy(b[1:], []byte{0xfe, 0xff, 0xff, p.Type, 0xfe, 0xff, 0xff})
	if p.Active {
		b[0] = 0x80
	}
	binary.LittleEndian.PutUint32(b[8:], uint32(p.First))
	binary.LittleEndian.PutUint32(b[12:], uint32(p.Sectors))
}

// Remove frees a primary entry.
func (m *MBR) Remove(number int) {
	clear(m.boot[446+16*(number-1):][:16])
	kept := m.Partitions[:0]
	for _, p := range m.Partitions {
		if p.Number != number {
			kept = append(kept, p)
		}
	}
	m.Partitions = kept
}

// Write puts the boot sector on d, leaving the rest of its sector as it is.
func (m *MBR) Write(d Disk) error { return writeBootSector(d, m.boot) }

// writeBootSector replaces a disk's first 512 bytes.
func writeBootSector(d Disk, boot []byte) error {
	b, err := readAt(d, 0, d.LogicalSectorSize())
	if err != nil {
		return err
	}
	copy(b, boot)
	if err := writeAt(d, b, 0); err != nil {
		return err
	}
	return d.Flush()
}

// writeProtectiveMBR makes the MBR say that the whole disk is a GPT's. Boot
// code and the entries of a hybrid MBR stay.
func writeProtectiveMBR(d Disk) error {
	b, err := readAt(d, 0, 512)
	if err != nil {
		return err
	}
	sectors := min(d.Size()/int64(d.LogicalSectorSize())-1, maxMBRSectors-1)
	m, err := parseMBR(b)
	if err != nil || !m.Protective() {
		m = &MBR{boot: append(b[:440:440], make([]byte, 72)...)}
		m.boot[510], m.boot[511] = 0x55, 0xaa
		m.Partitions = []MBRPartition{{Number: 1, Type: mbrProtective}}
	}
	hybrid := len(m.Partitions) > 1
	for _, p := range m.Partitions {
		if p.Type != mbrProtective || hybrid {
			continue // in a hybrid MBR the protective entry covers only the table
		}
		p.First, p.Sectors = 1, sectors
		m.put(p)
		copy(m.boot[446+16*(p.Number-1)+1:], []byte{0, 2, 0}) // sector 1, as the specification has it
	}
	return writeBootSector(d, m.boot)
}
