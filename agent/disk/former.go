package disk

import (
	"encoding/binary"
	"math"
)

// FormerParts lists the partitions that a disk has had, as far as any table on it still
// says so: the MBR, the primary GPT, a backup GPT. It passes over tables that no program
// would believe, and over nothing else: of a table with an impossible partition it lists
// the others. A header of a GPT that lies elsewhere than at the disk's end, as on a
// volume that has grown, is listed as a partition of one sector.
func FormerParts(d Disk) []Part {
	var all []Part
	seen := map[[2]int64]bool{}
	add := func(parts ...Part) {
		for _, p := range parts {
			p.Size = min(p.Size, d.Size()-p.Start)
			if at := [2]int64{p.Start, p.Size}; p.Start > 0 && p.Size > 0 && !seen[at] && p.Type != mbrType(mbrProtective) {
				seen[at] = true
				all = append(all, p)
			}
		}
	}
	sector := int64(d.LogicalSectorSize())
	last := d.Size()/sector - 1
	for _, lba := range []int64{1, last} {
		g, _ := readGPTAt(d, lba) // beside an error, where partitions overlap
		if g == nil {
			continue
		}
		add((&Table{GPT: g}).Parts()...)
		if g.alternate > 1 && g.alternate < last {
			add(Part{Name: "gpt backup", Start: g.alternate * sector, Size: sector})
		}
	}
	b, err := readAt(d, 0, 512)
	if err != nil {
		return all
	}
	m, err := parseMBR(b)
	if err != nil {
		return all
	}
	m.sector = int(sector)
	for _, p := range m.Partitions[:len(m.Partitions):len(m.Partitions)] {
		if p.extended() {
			_ = m.readLogical(d, p) // m has those before a break in the chain
		}
	}
	add((&Table{MBR: m}).Parts()...)
	return all
}

// formerContents are FormerParts, and behind them the contents of software RAID with them, or the disk itself, as
// members. A later array of the same layout would expose these contents, and no other record names their place
// (nix-community/disko#1247).
func formerContents(d Disk) []Part {
	parts := FormerParts(d)
	for _, p := range append([]Part{{Size: d.Size()}}, parts...) {
		for _, at := range mdPlaces(p.Size) {
			b, err := readAt(d, p.Start+at, 4*kib)
			if err != nil {
				continue
			}
			m, err := parseMember(b)
			if err != nil {
				continue
			}
			offset, size := binary.LittleEndian.Uint64(b[128:]), binary.LittleEndian.Uint64(b[136:])
			if offset >= uint64(p.Size/mdSectorSize) {
				continue
			}
			data := Part{Name: "content of RAID volume " + m.Name, Start: p.Start + int64(offset)*mdSectorSize}
			data.Size = min(int64(min(size, math.MaxInt64/mdSectorSize))*mdSectorSize, p.Start+p.Size-data.Start)
			parts = append(parts, data)
			for _, inner := range FormerParts(Within(d, data)) {
				inner.Start += data.Start
				parts = append(parts, inner)
			}
		}
	}
	return parts
}
