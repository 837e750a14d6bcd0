package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
)

const (
	l1Block    = 64 << 10  // of an L1 table, read at a time
	loadWindow = 256 << 10 // read at once around an L2 table: small clusters keep them close
)

// Bits of an L1 or L2 entry.
const (
	entryOffset     = 1<<56 - 1<<9 // of an L2 table or a cluster
	entryCompressed = 1 << 62
	entryCopied     = 1 << 63
	entryZero       = 1 // version 3
)

// openQcow2 reads a qcow2's header and tables and makes the map to write it
// by. Nothing is written.
func openQcow2(ctx context.Context, src Source, dst Target) (*qcow2Map, error) {
	h, err := parseQcow2Header(src.Head())
	if err != nil {
		return nil, err
	}
	if h.size > dst.Size() {
		return nil, tooSmall(dst.Size(), h.size)
	}
	if h.unit() < int64(dst.LogicalSectorSize()) {
		return nil, fmt.Errorf("%w: qcow2 clusters or subclusters of %d bytes are smaller than the disk's sectors of %d; "+
			"convert it with larger clusters",
			ErrFormat, h.unit(), dst.LogicalSectorSize())
	}
	ranges, ok := src.(RangeReader)
	if !ok || src.Size() < 0 {
		return nil, noRange(ErrNoRange)
	}
	m := &qcow2Map{qcow2Header: *h, fileSize: src.Size(), seed: maphash.MakeSeed()}
	if h.dirty {
		m.warnings = append(m.warnings, "qcow2 is marked dirty: it was not closed cleanly; "+
			"its reference counts are not used here")
	}
	head := src.Head()
	head = head[:min(int64(len(head)), h.clusterSize())]
	m.tables = append(m.tables, table{0, h.clusterSize(), 0}) // reserves the cluster; the sum follows
	l := &tableLoader{ctx: ctx, src: ranges, qcow2Map: m}
	if err := l.load(); err != nil {
		if errors.Is(err, ErrNoRange) {
			return nil, noRange(err)
		}
		return nil, err
	}
	if err := m.sort(); err != nil {
		return nil, err
	}
	m.tables[0] = table{0, int64(len(head)), maphash.Bytes(m.seed, head)}
	return m, nil
}

// noRange says why a qcow2 needs Range.
func noRange(err error) error {
	return fmt.Errorf("%w: the tables of a qcow2 must be read before its data: "+
		"serve it where Range requests and sizes are supported, or serve it as raw: %w", ErrFormat, err)
}

// tableLoader walks the tables in the order of the disk.
type tableLoader struct {
	*qcow2Map
	ctx    context.Context // one walk
	src    RangeReader
	window []byte
	at     int64 // the window's offset in the file
}

// load walks the L1 table.
func (l *tableLoader) load() error {
	if l.l1Offset+l.l1Entries*8 > l.fileSize {
		return fmt.Errorf("%w: qcow2 L1 table at %d lies outside the file of %d bytes", ErrFormat, l.l1Offset, l.fileSize)
	}
	buf := make([]byte, min(l1Block, l.l1Entries*8))
	for i := int64(0); i < l.l1Entries; {
		part := buf[:min(int64(len(buf)), (l.l1Entries-i)*8)]
		if err := l.read(part, l.l1Offset+i*8); err != nil {
			return err
		}
		for ; len(part) > 0; part, i = part[8:], i+1 {
			if err := l.l1(i, binary.BigEndian.Uint64(part)); err != nil {
				return err
			}
			if err := l.fits(); err != nil {
				return err
			}
		}
	}
	return nil
}

// read fills p from the table at off and notes its sum.
func (l *tableLoader) read(p []byte, off int64) error {
	if err := l.src.ReadRange(l.ctx, p, off); err != nil {
		return fmt.Errorf("read qcow2 table at %d: %w", off, err)
	}
	l.note(p, off)
	return nil
}

// note keeps the content of a table.
func (l *tableLoader) note(p []byte, off int64) {
	l.tables = append(l.tables, table{off, int64(len(p)), maphash.Bytes(l.seed, p)})
}

// l2Table returns the table at off, from the window when it is there.
func (l *tableLoader) l2Table(off int64) ([]byte, error) {
	n := l.clusterSize()
	if off+n > l.fileSize {
		return nil, fmt.Errorf("%w: qcow2 L2 table at %d lies outside the file of %d bytes", ErrFormat, off, l.fileSize)
	}
	if off < l.at || off+n > l.at+int64(len(l.window)) {
		if l.window == nil {
			l.window = make([]byte, min(max(n, loadWindow), l.fileSize))
		}
		l.window = l.window[:min(int64(cap(l.window)), l.fileSize-off)]
		l.at = off
		if err := l.src.ReadRange(l.ctx, l.window, off); err != nil {
			l.window = l.window[:0]
			return nil, fmt.Errorf("read qcow2 table at %d: %w", off, err)
		}
	}
	p := l.window[off-l.at:][:n]
	l.note(p, off)
	return p, nil
}

// l1 takes L1 entry i.
func (l *tableLoader) l1(i int64, entry uint64) error {
	first := i << l.l2Bits()
	count := min(1<<l.l2Bits(), l.guests()-first)
	if entry&^(entryCopied|entryOffset) != 0 {
		return fmt.Errorf("%w: qcow2 L1 entry %d is %#x: reserved bits are set", ErrFormat, i, entry)
	}
	off := int64(entry & entryOffset)
	if off == 0 {
		l.addZero(first, count)
		return nil
	}
	if off&(l.clusterSize()-1) != 0 {
		return fmt.Errorf("%w: qcow2 L2 table at %d is not on a cluster", ErrFormat, off)
	}
	table, err := l.l2Table(off)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	for j := range count {
		entry, err := table[j*l.entrySize():], error(nil)
		if l.extended {
			err = l.extendedL2(first+j, be.Uint64(entry), be.Uint64(entry[8:]))
		} else {
			err = l.l2(first+j, be.Uint64(entry))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// l2 takes the entry of one guest cluster.
func (l *tableLoader) l2(guest int64, entry uint64) error {
	if entry&entryCompressed != 0 {
		return l.compressed(guest, entry)
	}
	zero := uint64(0)
	if l.version == 3 {
		zero = entryZero
	}
	if entry&^(entryCopied|entryOffset|zero) != 0 {
		return fmt.Errorf("%w: qcow2 cluster %d has entry %#x: reserved bits are set", ErrFormat, guest, entry)
	}
	off := int64(entry & entryOffset)
	if off&(l.clusterSize()-1) != 0 {
		return fmt.Errorf("%w: qcow2 cluster %d lies at %d, not on a cluster", ErrFormat, guest, off)
	}
	if entry&zero != 0 || off == 0 {
		l.addZero(guest, 1)
		return nil
	}
	host, err := l.hostCluster(guest, off, l.clusterSize())
	if err != nil {
		return err
	}
	l.plain = append(room(l.plain, l.fileSize>>l.clusterBits, mapBudget/8), host<<32|uint64(guest))
	return nil
}

// hostCluster is the number of the cluster at off in the file. Its first n bytes are used, or as many as the disk
// still has.
func (l *tableLoader) hostCluster(guest, off, n int64) (uint64, error) {
	if need := min(n, l.size-guest<<l.clusterBits); off+need > l.fileSize {
		return 0, fmt.Errorf("%w: qcow2 cluster %d at %d lies outside the file of %d bytes", ErrFormat, guest,
			off, l.fileSize)
	}
	// The file's size bounds the host cluster; only 512-byte clusters in a file over
	// 2 TiB pass 32 bits.
	host := uint64(off) >> l.clusterBits
	if host >= 1<<32 {
		return 0, fmt.Errorf("%w: qcow2 file has more than 2^32 clusters", ErrFormat)
	}
	return host, nil
}

// compressed takes a compressed cluster's descriptor: below bit x the byte
// offset in the file, from x to 61 the number of further sectors it touches.
func (l *tableLoader) compressed(guest int64, entry uint64) error {
	x := 62 - (l.clusterBits - 8)
	off := int64(entry & (1<<x - 1))
	sectors := int64(entry&(entryCompressed-1)) >> x
	end := off&^511 + (sectors+1)*512
	if entry&entryCopied != 0 {
		return fmt.Errorf("%w: qcow2 compressed cluster %d has entry %#x: it must not have the highest bit", ErrFormat,
			guest, entry)
	}
	if off < l.clusterSize() || off >= l.fileSize {
		return fmt.Errorf("%w: qcow2 compressed cluster %d at %d lies outside the file of %d bytes", ErrFormat, guest,
			off, l.fileSize)
	}
	// The file's last sector need not be whole.
	n := min(end, l.fileSize) - off
	l.packed = append(room(l.packed, min(l.guests(), l.fileSize/packedLeast), mapBudget/16),
		packedCluster{off: off, n: uint32(n), guest: uint32(guest)})
	return nil
}
