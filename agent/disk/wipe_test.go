package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestWipeSignatures plants every signature in a partition and on a bare disk.
func TestWipeSignatures(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		for _, sig := range signatures() {
			if sig.offset > 80*mib {
				continue // the btrfs copy at 256 GiB: the same code as at 64 MiB
			}
			size := int64(10 * mib)
			if sig.offset >= 8*mib {
				size = 80 * mib
			}
			t.Run(fmt.Sprintf("%s at %d, %d", sig.name, sig.offset, sector), func(t *testing.T) {
				d := newDisk(t, size, sector)
				if sig.offset < 8*mib {
					d = twoParts(t, size, sector)
					copy(d.b[5*mib+sig.at(4*mib):], sig.magic)
				}
				copy(d.b[sig.at(size):], sig.magic)
				found, err := section{d, 0, size}.find()
				if err != nil || !strings.Contains(fmt.Sprint(found), sig.name) {
					t.Fatalf("planted, but found %v %v", found, err)
				}
				if _, err := WipeMetadata(context.Background(), d); err != nil {
					t.Fatal(err)
				}
				if found, err := (section{d, 0, size}).find(); err != nil || len(found) > 0 {
					t.Errorf("still there: %v %v", found, err)
				}
				if found, err := (section{d, 5 * mib, 4 * mib}).find(); err != nil || len(found) > 0 {
					t.Errorf("still there in the partition: %v %v", found, err)
				}
			})
		}
	}
}

// TestWipeRealFilesystems checks with wipefs and blkid that nothing is left.
func TestWipeRealFilesystems(t *testing.T) {
	for _, mkfs := range [][]string{
		{"mkfs.ext4", "-q", "-F"}, {"mkswap"}, {"mkfs.vfat"},
	} {
		t.Run(mkfs[0], func(t *testing.T) {
			d := twoParts(t, 16<<20, 512)
			fs := newDisk(t, 4<<20, 512)
			onFile(t, fs, func(path string) { run(t, "", mkfs[0], append(mkfs[1:], path)...) })
			copy(d.b[5*mib:], fs.b)
			report, err := WipeMetadata(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			if report.Partitions != 2 || len(report.Found) < 4 || !strings.Contains(report.Found[0], "partition 2: ") {
				t.Errorf("report %+v", report)
			}
			copy(fs.b, d.b[5*mib:])
			onFile(t, d, func(path string) {
				if out := run(t, "", "wipefs", path); out != "" {
					t.Errorf("wipefs still finds:\n%s", out)
				}
			})
			onFile(t, fs, func(path string) {
				if out := run(t, "", "wipefs", path); out != "" {
					t.Errorf("wipefs still finds in the partition:\n%s", out)
				}
			})
		})
	}
}

func TestWipeFailures(t *testing.T) {
	d := twoParts(t, 16<<20, 512)
	d.deaf = true
	if _, err := WipeMetadata(context.Background(), d); !errors.Is(err, ErrNotWiped) {
		t.Errorf("a disk that keeps its data: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := WipeMetadata(ctx, twoParts(t, 16<<20, 512)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, sector := range []int{512, 4096} {
		small := newDisk(t, int64(sector), sector)
		small.b[510], small.b[511] = 0x55, 0xaa
		if _, err := WipeMetadata(context.Background(), small); err != nil || !isZero(small.b) {
			t.Errorf("a disk of one sector: %v", err)
		}
	}
	broken := twoParts(t, 16<<20, 512)
	broken.b[600] ^= 1
	broken.b[len(broken.b)-500] ^= 1
	if _, err := WipeMetadata(context.Background(), broken); err != nil {
		t.Errorf("a damaged table must not keep a disk from being wiped: %v", err)
	}
}

func TestGuard(t *testing.T) {
	typed := func(kind string) *memDisk {
		d := twoParts(t, 16<<20, 512)
		g, err := ReadGPT(d)
		if err != nil {
			t.Fatal(err)
		}
		p := g.Partitions()[1]
		p.Type = guid(t, kind)
		if err := errors.Join(g.set(p), g.Write(d)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	gfs2 := twoParts(t, 16<<20, 512)
	copy(gfs2.b[5*mib+64*kib:], gfs2Magic)
	tests := []struct {
		name string
		d    *memDisk
		text string
	}{
		{"plain", twoParts(t, 16<<20, 512), ""},
		{"empty", newDisk(t, 16<<20, 512), ""},
		{"gpfs", typed(typeGPFS), "partition 2 is of GPFS"},
		{"vmfs", typed(typeVMFS), "partition 2 is of VMFS"},
		{"vmfs in an MBR", sfdisk(t, 16<<20, "start=2048, size=2048, type=fb\n"), "partition 1 is of VMFS"},
		{"gfs2", gfs2, "partition 2 has a gfs2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Guard(tt.d)
			if (tt.text != "") != errors.Is(err, ErrProtected) || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q", err, tt.text)
			}
		})
	}
}

// unreadable is a disk that answers every read with an error.
type unreadable struct{ *memDisk }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, os.ErrPermission }

func TestUnreadableDisk(t *testing.T) {
	d := unreadable{newDisk(t, 16<<20, 512)}
	if err := Guard(d); !errors.Is(err, os.ErrPermission) {
		t.Errorf("guard: %v", err)
	}
	if _, err := WipeMetadata(context.Background(), d); !errors.Is(err, os.ErrPermission) {
		t.Errorf("wipe: %v", err)
	}
}

// TestWipeEveryTable: the partitions of all tables are wiped, also where one of them is impossible.
func TestWipeEveryTable(t *testing.T) {
	const size = 64 * mib
	gpt := func(sector int, change func(d *memDisk, g *GPT)) *memDisk {
		d := twoParts(t, size, sector)
		g, err := ReadGPT(d)
		if err != nil {
			t.Fatal(err)
		}
		change(d, g)
		return d
	}
	overlap := func(d *memDisk, g *GPT) { // a third partition from within the second to far beyond the disk
		p := g.Partitions()[1]
		p.Number, p.First, p.Last = 3, p.First+int64(mib/d.sector), 1<<40
		if err := g.set(p); err != nil {
			t.Fatal(err)
		}
		copy(d.b[2*d.sector:], g.entries)
		copy(d.b[d.sector:], g.header(1, size/int64(d.sector)-1, 2))
	}
	boot := func(script string) func(*memDisk, *GPT) {
		return func(d *memDisk, _ *GPT) {
			m := sfdisk(t, size, script)
			copy(d.b, m.b[:512])
			copy(d.b[40*mib:], m.b[40*mib:60*mib])
		}
	}
	grown := newDisk(t, size, 512)
	copy(grown.b, twoParts(t, 32*mib, 512).b)
	for name, tc := range map[string]struct {
		disk *memDisk
		at   []int64 // where file systems are
	}{
		"overlap":           {gpt(512, overlap), []int64{mib, 5 * mib, 6 * mib}},
		"overlap, 4Kn":      {gpt(4096, overlap), []int64{mib, 5 * mib, 6 * mib}},
		"backup alone":      {gpt(512, func(d *memDisk, _ *GPT) { clear(d.b[:mib]) }), []int64{mib, 5 * mib}},
		"MBR over a GPT":    {gpt(512, boot("start=24576, size=8192, type=83\n")), []int64{mib, 5 * mib, 12 * mib}},
		"partition outside": {gpt(512, boot("start=24576, size=106496, type=83\n")), []int64{12 * mib}},
		"broken chain": {gpt(512, func(d *memDisk, g *GPT) {
			boot("start=81920, size=40960, type=5\nstart=83968, size=2048, type=83\nstart=88064, size=2048\n")(d, g)
			copy(d.b[42*mib+446+16:], "\x00\x00\x00\x05\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff")
		}), []int64{41 * mib, 43 * mib, mib}},
		"a volume that has grown": {grown, []int64{32*mib - 512}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range tc.at {
				if tc.disk != grown {
					copy(tc.disk.b[at:], "XFSB")
				}
			}
			if _, err := WipeMetadata(t.Context(), tc.disk); err != nil {
				t.Fatal(err)
			}
			for _, at := range tc.at {
				if !isZero(tc.disk.b[at : at+4]) {
					t.Errorf("%q is still there at %d", tc.disk.b[at:at+4], at)
				}
			}
		})
	}
}

// badSector is a disk with a sector that cannot be read until it is written.
type badSector struct {
	*memDisk
	at    int64
	stays bool
}

func (d *badSector) ReadAt(p []byte, off int64) (int, error) {
	if d.at > 0 && off < d.at+512 && off+int64(len(p)) > d.at {
		return 0, syscall.EIO
	}
	return d.memDisk.ReadAt(p, off)
}

func (d *badSector) Zero(off, n int64) error {
	if !d.stays && off <= d.at && d.at < off+n {
		d.at = 0
	}
	return d.memDisk.Zero(off, n)
}

// TestWipeBadSector: a sector that a drive replaces when it is written keeps no disk from being wiped; any other does.
func TestWipeBadSector(t *testing.T) {
	for _, at := range []int64{512, 5*mib + 1024, 64 * mib, 80*mib - 512} {
		for _, stays := range []bool{false, true} {
			d := &badSector{twoParts(t, 80*mib, 512), at, stays}
			_, err := WipeMetadata(t.Context(), d)
			if stays != errors.Is(err, syscall.EIO) {
				t.Errorf("bad sector at %d that stays: %v; error %v", at, stays, err)
			}
		}
	}
}

// TestWipeContentOfRAID: a file system, LVM and a table on RAID of a partition are gone with the RAID, wherever mdadm
// has put its data.
func TestWipeContentOfRAID(t *testing.T) {
	const offset = 2 * mib // of the data, as mdadm has it with version 1.2
	d := twoParts(t, 80*mib, 512)
	g, err := ReadGPT(d)
	if err != nil {
		t.Fatal(err)
	}
	p := g.Partitions()[1]
	p.Last = 79*mib/512 - 1
	if err := errors.Join(g.set(p), g.Write(d)); err != nil {
		t.Fatal(err)
	}
	member := Part{Number: 2, Start: 5 * mib, Size: 74 * mib}
	data := Part{Start: member.Start + offset, Size: 70 * mib}
	b := Member{Array: mirror(t, 70*mib)}.superblock(8)
	binary.LittleEndian.PutUint64(b[128:], offset/512)
	binary.LittleEndian.PutUint64(b[136:], 70*mib/512)
	binary.LittleEndian.PutUint32(b[216:], mdChecksum(b[:mdSize+2*mdRoles]))
	copy(d.b[member.Start+4*kib:], b)
	inner := sfdisk(t, 70*mib, "start=8192, size=40960, type=83\n")
	copy(d.b[data.Start:], inner.b[:512])
	left := map[string]int64{"LABELONE": data.Start + 512, "_BHRfS_M": data.Start + 64*mib + 64,
		"XFSB": data.Start + 4*mib}
	for magic, at := range left {
		copy(d.b[at:], magic)
	}
	report, err := WipeMetadata(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for magic, at := range left {
		if !isZero(d.b[at : at+4]) {
			t.Errorf("%s is still there; found %v", magic, report.Found)
		}
	}
}
