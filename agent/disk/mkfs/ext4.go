package mkfs

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The parameters of every ext4 made here: mke2fs's defaults for a disk (Linux,
// Documentation/filesystems/ext4).
const (
	extBlock     = 4096
	extPerGroup  = 8 * extBlock // blocks: as many as one block has bits
	extInodes    = 8192         // of a group
	extInodeSize = 256
	extTable     = extInodes * extInodeSize / extBlock // blocks
	extDescSize  = 64
	extLabel     = 16          // bytes
	extJournal   = 8192        // blocks, 32 MiB
	extLeast     = 256 << 20   // bytes; less would want other proportions
	extMost      = 32 << 40    // bytes: 2^31 inodes
	extReserved  = 20          // one block of so many is root's
	extFirst     = 11          // inode: lower numbers are reserved
	extLostFound = 4           // blocks
	extTail      = 50          // blocks a last group must have beside its own tables
	extNow       = 946_684_800 // 2000-01-01: a ramdisk's clock may be anything
)

// Flags of group descriptors.
const (
	groupInodesUnset = 1 // its inode bitmap and table were never written
	groupBlocksUnset = 2 // nor its block bitmap
	groupZeroed      = 4 // its inode table was
)

// ext is an ext4 being laid out. Groups but the first and the last are only described: the kernel writes their tables
// when it first needs them (uninit_bg), so that large partitions take no longer than small ones.
//
// It is our own. diskfs/go-diskfs 1.9.4, which was measured, adds 0.6 MB to a program for ext4 alone, of the 12 MB
// that a ramdisk may have. It takes UUID and times from the machine, which may have a wrong clock, and describes no
// groups (uninit_bg). See docs/decisions/0053-own-mkfs.md.
type ext struct {
	id         [16]byte
	hashSeed   [16]byte
	label      string
	blocks     int64
	groups     int64
	descBlocks int64
}

// makeExt4 makes an empty ext4 with a journal, and the folder lost+found in it.
func makeExt4(p Partition, label string, random io.Reader) error {
	e, err := planExt(p.Size(), label)
	if err != nil {
		return err
	}
	if e.id, err = newID(random); err != nil {
		return err
	}
	if e.hashSeed, err = newID(random); err != nil {
		return err
	}
	desc := e.descriptors()
	for _, zero := range []struct{ at, n int64 }{
		{0, 1}, {e.inodeTable(0), extTable}, {e.journal(), extJournal},
	} {
		if err := p.Zero(zero.at*extBlock, zero.n*extBlock); err != nil {
			return fmt.Errorf("zero %d blocks at %d: %w", zero.n, zero.at, err)
		}
	}
	for _, w := range e.firstGroup() {
		if err := writeAt(p, w.bytes, w.at*extBlock); err != nil {
			return err
		}
	}
	if last := e.groups - 1; last > 0 {
		if err := writeAt(p, e.blockBits(last), (e.inodeTable(last)-2)*extBlock); err != nil {
			return err
		}
	}
	for g := e.groups - 1; g >= 0; g-- { // the first last: until then it is no file system
		if !hasSuper(g) {
			continue
		}
		if err := e.writeSuper(p, g, desc); err != nil {
			return err
		}
	}
	return nil
}

func fitsExt4(p Partition, label string) error {
	_, err := planExt(p.Size(), label)
	return err
}

// planExt decides sizes. It is pure.
func planExt(size int64, label string) (*ext, error) {
	if size < extLeast || size > extMost {
		return nil, fmt.Errorf("the partition has %d bytes, expected %d to %d", size, extLeast, int64(extMost))
	}
	if err := labelFits(label, extLabel); err != nil {
		return nil, err
	}
	e := &ext{label: label, blocks: size / extBlock}
	e.count()
	// A last group that could hold little beside its own tables is left out, as
	// mke2fs does.
	if rest := e.blocks - (e.groups-1)*extPerGroup; rest < e.overhead(e.groups-1)+extTail {
		e.blocks -= rest
		e.count()
	}
	return e, nil
}

func (e *ext) count() {
	e.groups = (e.blocks + extPerGroup - 1) / extPerGroup
	e.descBlocks = (e.groups*extDescSize + extBlock - 1) / extBlock
}

// hasSuper reports whether a group has copies of superblock and descriptors: 0, 1 and
// the powers of 3, 5 and 7 (sparse_super).
func hasSuper(g int64) bool {
	if g <= 1 {
		return true
	}
	for _, base := range []int64{3, 5, 7} {
		n := base
		for n < g {
			n *= base
		}
		if n == g {
			return true
		}
	}
	return false
}

// overhead is how many blocks a group's own tables take.
func (e *ext) overhead(g int64) int64 {
	n := int64(2 + extTable)
	if hasSuper(g) {
		n += 1 + e.descBlocks
	}
	return n
}

// inodeTable is the first block of a group's inodes; its two bitmaps are
// before it.
func (e *ext) inodeTable(g int64) int64 { return g*extPerGroup + e.overhead(g) - extTable }

// The blocks of the first group that are in use, in this order.
func (e *ext) rootDir() int64   { return e.overhead(0) }
func (e *ext) lostFound() int64 { return e.rootDir() + 1 }
func (e *ext) journal() int64   { return e.lostFound() + extLostFound }

// used is how many of a group's blocks are in use.
func (e *ext) used(g int64) int64 {
	if g == 0 {
		return e.journal() + extJournal
	}
	return e.overhead(g)
}

// length is how many blocks a group has.
func (e *ext) length(g int64) int64 { return min(extPerGroup, e.blocks-g*extPerGroup) }

// free is how many blocks are free.
func (e *ext) free() (n int64) {
	for g := range e.groups {
		n += e.length(g) - e.used(g)
	}
	return n
}

// descriptors returns all groups' descriptors, with their checksums.
func (e *ext) descriptors() []byte {
	all := make([]byte, e.descBlocks*extBlock)
	for g := range e.groups {
		e.describe(all[g*extDescSize:][:extDescSize], g)
	}
	return all
}

func (e *ext) describe(b []byte, g int64) {
	le := binary.LittleEndian
	table := e.inodeTable(g)
	for i, at := range []int64{table - 2, table - 1, table} { // block bitmap, inode bitmap, inodes
		le.PutUint32(b[4*i:], uint32(at))
		le.PutUint32(b[32+4*i:], uint32(at>>32))
	}
	flags, inodes := uint16(groupInodesUnset|groupBlocksUnset), uint16(extInodes)
	switch g {
	case 0:
		flags, inodes = groupZeroed, extInodes-extFirst
		le.PutUint16(b[16:], 2) // directories
	case e.groups - 1:
		flags = groupInodesUnset
	}
	le.PutUint16(b[12:], uint16(e.length(g)-e.used(g)))
	le.PutUint16(b[14:], inodes) // free, and
	le.PutUint16(b[28:], inodes) // never used
	le.PutUint16(b[18:], flags)
	sum := crc16(0xffff, e.id[:])
	sum = crc16(sum, le.AppendUint32(nil, uint32(g)))
	sum = crc16(crc16(sum, b[:30]), b[32:])
	le.PutUint16(b[30:], sum)
}

// crc16 is the CRC-16 of descriptors: polynomial 0x8005, reflected.
func crc16(sum uint16, b []byte) uint16 {
	for _, c := range b {
		sum ^= uint16(c)
		for range 8 {
			if sum&1 != 0 {
				sum = sum>>1 ^ 0xa001
			} else {
				sum >>= 1
			}
		}
	}
	return sum
}

// blockBits is a group's block bitmap: the blocks in use, and the bits beyond the end.
func (e *ext) blockBits(g int64) []byte {
	b := make([]byte, extBlock)
	setBits(b, 0, e.used(g))
	setBits(b, e.length(g), extPerGroup)
	return b
}

func setBits(b []byte, from, to int64) {
	for i := from; i < to; i++ {
		b[i/8] |= 1 << (i % 8)
	}
}
