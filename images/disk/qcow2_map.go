package disk

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
)

// mapBudget bounds the memory of a qcow2Map, in bytes.
const mapBudget = largestNeed

// qcow2Map says where each cluster of a qcow2 file belongs on the disk, in
// the order of the file.
type qcow2Map struct {
	qcow2Header
	fileSize int64
	plain    []uint64 // host cluster << 32 | guest cluster
	packed   []packedCluster
	partial  []partialCluster
	zero     []zeroRun // in order of the disk
	tables   []table
	seed     maphash.Seed
	warnings []string
}

// packedCluster is a compressed cluster: at most n bytes of the file from off.
// n counts whole sectors, so it may reach into the next one's first.
type packedCluster struct {
	off   int64
	n     uint32
	guest uint32
}

// zeroRun is a run of guest clusters that read as zeroes.
type zeroRun struct{ first, count uint32 }

// table is a part of the file that was read out of order to make the map. It
// is compared when the body passes it, since only the body is checksummed.
type table struct {
	off int64
	n   int64
	sum uint64
}

// bytes is the map's size in memory.
func (m *qcow2Map) bytes() int {
	return 8*len(m.plain) + 16*len(m.packed) + 12*len(m.partial) + 8*len(m.zero) + 24*len(m.tables)
}

// fits refuses a map that grew over its budget.
func (m *qcow2Map) fits() error {
	if m.bytes() > mapBudget {
		return fmt.Errorf("%w: qcow2 has more clusters than a map of %d MiB holds; convert it with larger clusters",
			ErrFormat, mapBudget>>20)
	}
	return nil
}

// packedLeast is the least size of a compressed cluster in images as people have them,
// in bytes.
const packedLeast = 32

// room makes room for as many entries as there can be, but no more than fit the budget,
// before the first: a list that grew would be in memory twice. Unused room never becomes
// resident.
func room[T any](list []T, entries, budget int64) []T {
	if list != nil {
		return list
	}
	return make([]T, 0, min(entries, budget)+1)
}

// addZero adds count guest clusters from first, which come in order.
func (m *qcow2Map) addZero(first, count int64) {
	if n := len(m.zero); n > 0 && int64(m.zero[n-1].first)+int64(m.zero[n-1].count) == first {
		m.zero[n-1].count += uint32(count)
		return
	}
	m.zero = append(m.zero, zeroRun{uint32(first), uint32(count)})
}

// guests is the number of clusters of the virtual disk.
func (m *qcow2Map) guests() int64 { return (m.size-1)>>m.clusterBits + 1 }

// host is the file offset of plain cluster i.
func (m *qcow2Map) host(i int) int64 { return int64(m.plain[i]>>32) << m.clusterBits }

// guest is the disk offset of plain cluster i.
func (m *qcow2Map) guest(i int) int64 { return int64(m.plain[i]&(1<<32-1)) << m.clusterBits }

// sort brings the map into the file's order and refuses parts of the file
// that would be used twice.
func (m *qcow2Map) sort() error {
	slices.Sort(m.plain)
	slices.SortFunc(m.packed, func(a, b packedCluster) int { return cmp.Compare(a.off, b.off) })
	slices.SortFunc(m.partial, func(a, b partialCluster) int { return cmp.Compare(a.host, b.host) })
	slices.SortFunc(m.tables, func(a, b table) int { return cmp.Compare(a.off, b.off) })
	uses := []use{
		{kind: "table", left: len(m.tables), span: func(i int) (int64, int64) { return m.tables[i].off, m.tables[i].n }},
		{kind: "cluster", left: len(m.plain), span: func(i int) (int64, int64) { return m.host(i), m.clusterSize() }},
		{kind: "cluster", left: len(m.partial), span: func(i int) (int64, int64) {
			return int64(m.partial[i].host) << m.clusterBits, m.clusterSize()
		}},
		// The last sector may be shared with the next cluster, up to its last byte.
		{kind: "compressed cluster", left: len(m.packed), span: func(i int) (int64, int64) {
			return m.packed[i].off, int64(m.packed[i].n) - 511
		}},
	}
	end := int64(0)
	for {
		first := -1
		var from, n int64
		for k := range uses {
			if u := &uses[k]; u.left > 0 {
				if off, size := u.span(u.next); first < 0 || off < from {
					first, from, n = k, off, size
				}
			}
		}
		if first < 0 {
			return nil
		}
		if from < end {
			return fmt.Errorf("%w: qcow2 %s at %d overlaps the part before it; check it with qemu-img check", ErrFormat,
				uses[first].kind, from)
		}
		end = max(end, from+n)
		uses[first].next++
		uses[first].left--
	}
}

// use is one kind of thing the file's bytes are used for, in the file's order.
type use struct {
	kind string
	next int
	left int
	span func(i int) (off, n int64)
}
