package disk

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Volume is a file system as its superblock describes it.
type Volume struct {
	Kind  string // as mount(2) names it: ext4, xfs, btrfs, vfat
	Label string
	UUID  string // as blkid prints it: a GUID's form, for FAT "1234-ABCD"
}

// superblock has the places of a file system's label and UUID. Fields of text end in
// zeroes or blanks.
type superblock struct {
	kind         string
	magicAt      int64
	magic        string
	label, size  int64
	uuid, length int64
	plausible    func(sector []byte) bool // of the 512 bytes around a short magic; nil: the magic is enough
}

// superblocks are the file systems the kernel is asked to mount. FAT32 comes
// before the older FATs: its boot code may say anything where theirs have
// their name.
func superblocks() []superblock {
	return []superblock{
		{"ext4", 1080, "\x53\xef", 1024 + 120, 16, 1024 + 104, 16, plausibleExt},
		{"xfs", 0, "XFSB", 108, 12, 32, 16, nil},
		{"btrfs", 64*kib + 64, "_BHRfS_M", 64*kib + 299, 256, 64*kib + 32, 16, nil},
		{"vfat", 82, "FAT32", 71, 11, 67, 4, nil},
		{"vfat", 54, "FAT1", 43, 11, 39, 4, nil},
	}
}

// ReadVolume says which file system is on a partition; its Kind is empty when
// it is none that can be mounted.
func ReadVolume(d Disk, p Part) (Volume, error) {
	v, err := readVolume(section{d, p.Start, p.Size})
	if err != nil {
		return v, fmt.Errorf("partition %d: %w", p.Number, err)
	}
	return v, nil
}

func readVolume(s section) (Volume, error) {
	for _, b := range superblocks() {
		is, err := b.on(s)
		if err != nil {
			return Volume{}, err
		}
		if is {
			return b.read(s)
		}
	}
	return Volume{}, nil
}

// on reports whether a section has the file system.
func (b superblock) on(s section) (bool, error) {
	is, err := s.has(signature{b.kind, b.magicAt, 0, b.magic})
	if err != nil || !is || b.plausible == nil {
		return is, err
	}
	sector, err := readAt(s, b.magicAt/512*512, 512)
	return err == nil && b.plausible(sector), err
}

// plausibleExt checks other fields that the superblock of an ext file system must hold
// beside its magic (the kernel's fs/ext4/super.c). Its two bytes are also the number
// of a cluster, 61267, and stand where a FAT has such numbers.
func plausibleExt(sb []byte) bool {
	field := func(at int) uint32 { return binary.LittleEndian.Uint32(sb[at:]) }
	inodes, blocks, first, logSize, perGroup, revision := field(0), field(4), field(20), field(24), field(32), field(76)
	return inodes > 0 && blocks > 0 && first <= 1 && logSize <= 6 && perGroup > 0 && revision <= 1
}

// read takes label and UUID out of a superblock.
func (b superblock) read(s io.ReaderAt) (Volume, error) {
	label, err := readAt(s, b.label, int(b.size))
	if err != nil {
		return Volume{}, err
	}
	id, err := readAt(s, b.uuid, int(b.length))
	if err != nil {
		return Volume{}, err
	}
	v := Volume{Kind: b.kind}
	text, _, _ := strings.Cut(string(label), "\x00")
	v.Label = strings.TrimRight(text, " ")
	if b.length == 4 {
		n := binary.LittleEndian.Uint32(id)
		v.UUID = fmt.Sprintf("%04X-%04X", n>>16, n&0xffff)
		if v.Label == "NO NAME" {
			v.Label = ""
		}
		return v, nil
	}
	v.UUID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	return v, nil
}
