package mkfs

import "encoding/binary"

// Features of the file system: has_journal, ext_attr, dir_index; filetype, extent,
// 64bit; sparse_super, large_file, huge_file, uninit_bg, dir_nlink, extra_isize.
const (
	extCompatible   = 0x4 | 0x8 | 0x20
	extIncompatible = 0x2 | 0x40 | 0x80
	extReadOnly     = 0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x40
)

// writeSuper writes a group's copy of the superblock, and the descriptors
// behind it before it.
func (e *ext) writeSuper(p Partition, g int64, desc []byte) error {
	at := g * extPerGroup * extBlock
	if err := writeAt(p, desc, at+extBlock); err != nil {
		return err
	}
	b := make([]byte, extBlock)
	super := b
	if g == 0 {
		super = b[1024:] // the first block begins with room for boot code
	}
	e.super(super, g)
	return writeAt(p, b, at)
}

// super is the superblock as group g has it.
func (e *ext) super(b []byte, g int64) {
	le := binary.LittleEndian
	for _, f := range []struct {
		at    int
		value uint32
	}{
		{0, uint32(e.groups * extInodes)},
		{16, uint32(e.groups*extInodes - extFirst)},
		{24, 2}, {28, 2}, // blocks of 4096 bytes, and clusters
		{32, extPerGroup}, {36, extPerGroup}, {40, extInodes},
		{48, extNow}, {64, extNow}, {264, extNow}, // written, checked, made
		{76, 1}, // revision: dynamic
		{84, extFirst},
		{92, extCompatible}, {96, extIncompatible}, {100, extReadOnly},
		{224, inodeJournal},
		{256, 0x4 | 0x8}, // mounted with user_xattr and acl
		{352, 1},         // file names are hashed as signed characters
	} {
		le.PutUint32(b[f.at:], f.value)
	}
	for _, f := range []struct {
		at    int
		value uint16
	}{
		{54, 0xffff},                   // mounts before a check: any number
		{56, 0xef53}, {58, 1}, {60, 1}, // magic; clean; errors are only reported
		{88, extInodeSize}, {90, uint16(g)}, {254, extDescSize}, {348, 32}, {350, 32},
	} {
		le.PutUint16(b[f.at:], f.value)
	}
	for _, f := range []struct {
		low, high int
		value     int64
	}{{4, 336, e.blocks}, {8, 340, e.blocks / extReserved}, {12, 344, e.free()}} {
		le.PutUint32(b[f.low:], uint32(f.value))
		le.PutUint32(b[f.high:], uint32(f.value>>32))
	}
	copy(b[104:], e.id[:])
	copy(b[120:136], e.label)
	copy(b[236:], e.hashSeed[:])
	b[252], b[253] = 1, 1 // half MD4; a copy of the journal's inode follows
	putExtent(b[268:], e.journal(), extJournal)
	le.PutUint32(b[268+64:], extJournal*extBlock)
}
