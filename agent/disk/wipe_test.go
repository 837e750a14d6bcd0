package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	small := newDisk(t, 512, 512)
	small.b[510], small.b[511] = 0x55, 0xaa
	if _, err := WipeMetadata(context.Background(), small); err != nil || !isZero(small.b) {
		t.Errorf("a disk of one sector: %v", err)
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
