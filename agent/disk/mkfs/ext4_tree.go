package mkfs

import (
	"encoding/binary"
)

// piece is the content of a block.
type piece struct {
	at    int64
	bytes []byte
}

// firstGroup is the content of the first group beside superblock and descriptors.
func (e *ext) firstGroup() []piece {
	inodeBits := make([]byte, extBlock)
	setBits(inodeBits, 0, extFirst)
	setBits(inodeBits, extInodes, extPerGroup)
	table := e.inodeTable(0)
	return []piece{
		{table - 2, e.blockBits(0)},
		{table - 1, inodeBits},
		{table, e.inodes()},
		{e.rootDir(), e.folders()},
		{e.journal(), e.journalSuper()},
	}
}

// The inodes that are in use, by number.
const (
	inodeRoot    = 2
	inodeJournal = 8
)

// inodes are the first of the first group's.
func (e *ext) inodes() []byte {
	b := make([]byte, extBlock)
	for _, i := range []struct {
		number, mode, links uint16
		at, blocks          int64
	}{
		{inodeRoot, 0o40755, 3, e.rootDir(), 1},
		{inodeJournal, 0o100600, 1, e.journal(), extJournal},
		{extFirst, 0o40700, 2, e.lostFound(), extLostFound},
	} {
		putInode(b[(int(i.number)-1)*extInodeSize:][:extInodeSize], i.mode, i.links, i.at, i.blocks)
	}
	return b
}

// putInode writes an inode with content in one run of blocks.
func putInode(b []byte, mode, links uint16, at, blocks int64) {
	const extents, extra = 0x80000, 32
	le := binary.LittleEndian
	le.PutUint16(b, mode)
	le.PutUint32(b[4:], uint32(blocks*extBlock))
	for _, stamp := range []int{8, 12, 16, 144} {
		le.PutUint32(b[stamp:], extNow)
	}
	le.PutUint16(b[26:], links)
	le.PutUint32(b[28:], uint32(blocks*extBlock/512))
	le.PutUint32(b[32:], extents)
	putExtent(b[40:], at, blocks)
	le.PutUint16(b[128:], extra)
}

// putExtent writes the head of an extent tree with one leaf in it.
func putExtent(b []byte, at, blocks int64) {
	le := binary.LittleEndian
	le.PutUint16(b, 0xf30a)
	le.PutUint16(b[2:], 1) // of
	le.PutUint16(b[4:], 4) // entries
	le.PutUint16(b[16:], uint16(blocks))
	le.PutUint16(b[18:], uint16(at>>32))
	le.PutUint32(b[20:], uint32(at))
}

// folders are the blocks of / and, behind it, of /lost+found.
func (e *ext) folders() []byte {
	b := make([]byte, (1+extLostFound)*extBlock)
	n := putEntry(b, inodeRoot, 12, ".")
	n += putEntry(b[n:], inodeRoot, 12, "..")
	putEntry(b[n:], extFirst, extBlock-n, "lost+found")
	n = extBlock
	n += putEntry(b[n:], extFirst, 12, ".")
	putEntry(b[n:], inodeRoot, extBlock-12, "..")
	for i := 2; i <= extLostFound; i++ {
		putEntry(b[i*extBlock:], 0, extBlock, "")
	}
	return b
}

// putEntry writes a directory's entry for a folder and returns its length.
func putEntry(b []byte, inode uint32, length int, name string) int {
	const folder = 2
	le := binary.LittleEndian
	le.PutUint32(b, inode)
	le.PutUint16(b[4:], uint16(length))
	if name != "" {
		b[6], b[7] = byte(len(name)), folder
		copy(b[8:], name)
	}
	return length
}

// journalSuper is the superblock of an empty journal, which is in network byte
// order.
func (e *ext) journalSuper() []byte {
	be := binary.BigEndian
	b := make([]byte, extBlock)
	be.PutUint32(b, 0xc03b3998)
	be.PutUint32(b[4:], 4) // superblock, version 2
	be.PutUint32(b[12:], extBlock)
	be.PutUint32(b[16:], extJournal)
	be.PutUint32(b[20:], 1) // first block of the log, and
	be.PutUint32(b[24:], 1) // first commit expected
	copy(b[48:], e.id[:])
	be.PutUint32(b[64:], 1) // users
	return b
}
