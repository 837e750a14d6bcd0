package disk

import (
	"bytes"
	"errors"
	"io"
)

// signature is a magic number by which programs recognise the content of a disk or
// partition.
type signature struct {
	name   string
	offset int64 // from the start, or below zero from the end
	grain  int64 // offsets from the end are rounded down to a multiple of this
	magic  string
}

// at is the signature's place in size bytes.
func (s signature) at(size int64) int64 {
	if s.offset >= 0 {
		return s.offset
	}
	at := size + s.offset
	if s.grain > 0 && at > 0 {
		at = at / s.grain * s.grain
	}
	return at
}

const (
	kib = 1 << 10
	gib = 1 << 30

	mdMagic  = "\xfc\x4e\x2b\xa9" // Linux RAID superblock, little endian
	zfsMagic = "\x0c\xb1\xba\x00\x00\x00\x00\x00"
)

// signatures lists the signatures that wiping removes. Each format has its own places. Swap ends the first page, which
// has no fixed size; btrfs keeps copies at 64 MiB and 256 GiB; LVM's label is in one of four sectors. ZFS has labels
// of 256 KiB, two at each end, each with uberblocks from its middle on; the first of each label stands for all.
func signatures() []signature {
	table := []signature{
		{"gpt", 512, 0, gptMagic},
		{"gpt", 4096, 0, gptMagic},
		{"gpt backup", -512, 512, gptMagic},
		{"gpt backup", -4096, 4096, gptMagic},
		{"boot sector", 510, 0, "\x55\xaa"},
		{"ext", 1080, 0, "\x53\xef"},
		{"xfs", 0, 0, "XFSB"},
		{"btrfs", 64*kib + 64, 0, "_BHRfS_M"},
		{"btrfs", 64*mib + 64, 0, "_BHRfS_M"},
		{"btrfs", 256*gib + 64, 0, "_BHRfS_M"},
		{"bcache", 4096 + 24, 0, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca"},
		{"bcachefs", 4096 + 24, 0, "\xc6\x85\x73\xf6\x66\xce\x90\xa9"},
		{"bcachefs", 2*mib + 24, 0, "\xc6\x85\x73\xf6\x66\xce\x90\xa9"},
		{"f2fs", 1024, 0, "\x10\x20\xf5\xf2"},
		{"squashfs", 0, 0, "hsqs"},
		{"ntfs", 3, 0, "NTFS    "},
		{"exfat", 3, 0, "EXFAT   "},
		{"vfat", 54, 0, "FAT1"},
		{"vfat", 82, 0, "FAT32"},
		{"iso9660", 32769, 0, "CD001"},
		{"gfs2", 64 * kib, 0, gfs2Magic},
		{"luks", 0, 0, "LUKS\xba\xbe"},
		{"md 0.9", -64 * kib, 64 * kib, mdMagic},
		{"md 1.0", -8 * kib, 4 * kib, mdMagic},
		{"md 1.1", 0, 0, mdMagic},
		{"md 1.2", 4 * kib, 0, mdMagic},
		{"ddf", -512, 512, "\xde\x11\xde\x11"},
		{"imsm", -1024, 512, "Intel Raid ISM Cfg Sig. "},
		{"imsm", -8192, 4096, "Intel Raid ISM Cfg Sig. "}, // of sectors of 4096 bytes
		{"promise", -3087 * 512, 512, "Promise Technology, Inc."},
		{"vmfs", mib, 0, "\x0d\xd0\x01\xc0"},
		{"vmfs lvm", 2 * mib, 0, "\x0d\xd0\x01\xc0"},
	}
	for _, page := range []int64{4, 8, 16, 64} {
		table = append(table, signature{"swap", page*kib - 10, 0, "SWAPSPACE2"},
			signature{"swap", page*kib - 10, 0, "SWAP-SPACE"})
	}
	for sector := range int64(4) {
		table = append(table, signature{"lvm2", sector * 512, 0, "LABELONE"})
	}
	for _, label := range []int64{0, 256 * kib, -512 * kib, -256 * kib} {
		table = append(table, signature{"zfs", label + 128*kib, 256 * kib, zfsMagic})
	}
	for _, second := range []int64{16, 32, 64, 128, 256, 512, 1024, 2048, 4096} { // LUKS2's second header
		table = append(table, signature{"luks2", second * kib, 0, "SKUL\xba\xbe"})
	}
	return table
}

// gfs2Magic begins the superblock of a filesystem that several machines share.
const gfs2Magic = "\x01\x16\x19\x70"

// section is a part of a disk, as if it were a disk of its own.
type section struct {
	d          Disk
	start, len int64
}

// find lists the signatures on the section.
func (s section) find() ([]signature, error) {
	var found []signature
	for _, sig := range signatures() {
		is, err := s.has(sig)
		if err != nil {
			return nil, err
		}
		if is {
			found = append(found, sig)
		}
	}
	return found, nil
}

// has reports whether the section carries a signature.
func (s section) has(sig signature) (bool, error) {
	at := sig.at(s.len)
	if at < 0 || at+int64(len(sig.magic)) > s.len {
		return false, nil
	}
	b, err := readAt(s.d, s.start+at, len(sig.magic))
	if err != nil {
		return false, err
	}
	return bytes.Equal(b, []byte(sig.magic)), nil
}

// ReadAt reads within the section.
func (s section) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.len {
		return 0, io.EOF
	}
	if off+int64(len(p)) <= s.len {
		return s.d.ReadAt(p, s.start+off)
	}
	n, err := s.d.ReadAt(p[:s.len-off], s.start+off)
	if err == nil || errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return n, err
}
