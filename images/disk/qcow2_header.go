package disk

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// qcow2Header holds the fields of a qcow2 header that a reader needs (the format's
// specification is docs/interop/qcow2.txt of QEMU).
type qcow2Header struct {
	version     uint32
	clusterBits uint
	size        int64 // of the virtual disk, bytes
	l1Entries   int64 // as many as the size needs; the table may have more
	l1Offset    int64
	zstd        bool // compressed clusters are zstd, else raw deflate
	extended    bool // L2 entries have a second half: the bitmaps of 32 subclusters
	dirty       bool
}

// clusterSize in bytes.
func (h *qcow2Header) clusterSize() int64 { return 1 << h.clusterBits }

// entrySize is the size of an L2 entry in bytes.
func (h *qcow2Header) entrySize() int64 {
	if h.extended {
		return 16
	}
	return 8
}

// l2Bits is log2 of the entries in an L2 table, which fills a cluster.
func (h *qcow2Header) l2Bits() uint {
	return h.clusterBits - uint(bits.TrailingZeros64(uint64(h.entrySize())))
}

// unit is the smallest run of bytes that the tables distinguish: a cluster, or one of
// its 32 subclusters with extended L2 entries.
func (h *qcow2Header) unit() int64 {
	if h.extended {
		return h.clusterSize() / subclusters
	}
	return h.clusterSize()
}

// Incompatible features, bits of the header's 64-bit field at 72.
const (
	featureDirty = 1 << iota
	featureCorrupt
	featureExternalData
	featureCompression
	featureExtendedL2
	featuresKnown = 1<<iota - 1
)

const (
	qcow2MaxL1  = 32 << 20 // bytes of an L1 table, QEMU's own limit
	subclusters = 32       // of a cluster, with extended L2 entries
	extDataFile = 0x44415441
	extEnd      = 0 // an extension of this type ends the list
)

// parseQcow2Header reads and checks a header from the image's first bytes. A header that
// names another file is refused here, before anything is opened.
func parseQcow2Header(b []byte) (*qcow2Header, error) {
	be := binary.BigEndian
	if len(b) < 72 || string(b[:4]) != "QFI\xfb" {
		return nil, fmt.Errorf("%w: qcow2 header is cut short at %d bytes", ErrFormat, len(b))
	}
	h := &qcow2Header{version: be.Uint32(b[4:])}
	if h.version != 2 && h.version != 3 {
		return nil, fmt.Errorf("%w: qcow2 version is %d, expected 2 or 3", ErrFormat, h.version)
	}
	if off := be.Uint64(b[8:]); off != 0 {
		name := stringAt(b, off, uint64(be.Uint32(b[16:])))
		return nil, fmt.Errorf("%w: qcow2 has a backing file (%s), which is never opened; flatten it with qemu-img convert",
			ErrFormat, name)
	}
	if m := be.Uint32(b[32:]); m != 0 {
		return nil, fmt.Errorf("%w: qcow2 is encrypted (method %d)", ErrFormat, m)
	}
	if h.version == 3 {
		if err := h.parseFeatures(b); err != nil {
			return nil, err
		}
	}
	return h, h.parseGeometry(b)
}

// qcow2SizeAt is the place of the virtual disk's size in a qcow2 header.
const qcow2SizeAt = 24

// parseGeometry reads cluster size, disk size and the L1 table's place.
func (h *qcow2Header) parseGeometry(b []byte) error {
	be := binary.BigEndian
	cb, size := be.Uint32(b[20:]), be.Uint64(b[qcow2SizeAt:])
	if cb < 9 || cb > 21 {
		return fmt.Errorf("%w: qcow2 cluster bits are %d, expected 9 to 21", ErrFormat, cb)
	}
	h.clusterBits = uint(cb)
	if h.unit() < 512 {
		return fmt.Errorf("%w: qcow2 clusters of %d bytes are too small for subclusters, expected 16 KiB at least",
			ErrFormat, h.clusterSize())
	}
	if size == 0 || size>>h.clusterBits >= 1<<32-1 || size > 1<<62 {
		return fmt.Errorf("%w: qcow2 disk of %d bytes in clusters of %d: expected 1 to 2^32-2 clusters", ErrFormat, size,
			h.clusterSize())
	}
	h.size = int64(size)
	perEntry := h.clusterBits + h.l2Bits()
	h.l1Entries = (h.size-1)>>perEntry + 1
	if has := int64(be.Uint32(b[36:])); has < h.l1Entries {
		return fmt.Errorf("%w: qcow2 L1 table has %d entries, a disk of %d bytes needs %d", ErrFormat, has, size, h.l1Entries)
	}
	if h.l1Entries > qcow2MaxL1/8 {
		return fmt.Errorf("%w: qcow2 L1 table of %d entries is larger than %d bytes", ErrFormat, h.l1Entries, qcow2MaxL1)
	}
	l1 := be.Uint64(b[40:])
	if l1 == 0 || l1&uint64(h.clusterSize()-1) != 0 || bits.Len64(l1) > 56 {
		return fmt.Errorf("%w: qcow2 L1 table at %d is not on a cluster", ErrFormat, l1)
	}
	h.l1Offset = int64(l1)
	return nil
}

// parseFeatures reads the fields that version 3 added.
func (h *qcow2Header) parseFeatures(b []byte) error {
	be := binary.BigEndian
	if len(b) < 104 {
		return fmt.Errorf("%w: qcow2 header is cut short at %d bytes, expected 104", ErrFormat, len(b))
	}
	features, length := be.Uint64(b[72:]), uint64(be.Uint32(b[100:]))
	if length < 104 || length%8 != 0 || length > 1<<16 {
		return fmt.Errorf("%w: qcow2 header length is %d", ErrFormat, length)
	}
	if order := be.Uint32(b[96:]); order > 6 {
		return fmt.Errorf("%w: qcow2 refcount order is %d, expected at most 6", ErrFormat, order)
	}
	switch {
	case features&featureExternalData != 0:
		return fmt.Errorf("%w: qcow2 keeps its data in another file (%s), which is never opened", ErrFormat,
			dataFileName(b, length))
	case features&featureCorrupt != 0:
		return fmt.Errorf("%w: qcow2 is marked corrupt; repair it with qemu-img check -r", ErrFormat)
	case features&^uint64(featuresKnown) != 0:
		return fmt.Errorf("%w: qcow2 needs unknown features (bits %#x)", ErrFormat, features&^uint64(featuresKnown))
	}
	h.dirty, h.extended = features&featureDirty != 0, features&featureExtendedL2 != 0
	return h.parseCompression(b, features, length)
}

// parseCompression reads the compression type, which the header has when its
// feature bit is set.
func (h *qcow2Header) parseCompression(b []byte, features, length uint64) error {
	var kind byte
	if length > 104 && len(b) > 104 {
		kind = b[104]
	}
	if (kind != 0) != (features&featureCompression != 0) || kind > 1 {
		return fmt.Errorf("%w: qcow2 compression type is %d, expected 0 (zlib) or 1 (zstd)", ErrFormat, kind)
	}
	h.zstd = kind == 1
	return nil
}

// dataFileName finds the external data file's name among the header
// extensions, for the refusal.
func dataFileName(b []byte, off uint64) string {
	be := binary.BigEndian
	for off+8 <= uint64(len(b)) {
		kind, n := be.Uint32(b[off:]), uint64(be.Uint32(b[off+4:]))
		if kind == extEnd {
			break
		}
		if kind == extDataFile {
			return stringAt(b, off+8, n)
		}
		off += 8 + (n+7)/8*8
	}
	return "not named"
}

// stringAt quotes a string within b, for errors.
func stringAt(b []byte, off, n uint64) string {
	if n > 1023 || off > uint64(len(b)) || off+n > uint64(len(b)) {
		return fmt.Sprintf("name of %d bytes at %d", n, off)
	}
	return fmt.Sprintf("%q", clip(string(b[off:off+n])))
}
