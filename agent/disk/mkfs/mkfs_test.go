package mkfs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// file is a sparse file in place of a partition, as strict about alignment as a device. Old data fill it where file
// systems look.
type file struct {
	*os.File
	t      *testing.T
	size   int64
	sector int
}

func newFile(t *testing.T, size int64, sector int) *file {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "partition"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // read by then
	old := bytes.Repeat([]byte("OLD!"), mib)
	if _, err := f.WriteAt(old, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return &file{f, t, size, sector}
}

func (f *file) Size() int64            { return f.size }
func (f *file) LogicalSectorSize() int { return f.sector }

func (f *file) check(off, n int64) {
	if s := int64(f.sector); off < 0 || n < 0 || off+n > f.size || off%s != 0 || n%s != 0 {
		f.t.Errorf("bad write: %d bytes at %d of %d", n, off, f.size)
	}
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.check(off, int64(len(p)))
	return f.File.WriteAt(p, off)
}

func (f *file) Zero(off, n int64) error {
	f.check(off, n)
	for zeroes := make([]byte, mib); n > 0; {
		part := min(n, mib)
		if _, err := f.File.WriteAt(zeroes[:part], off); err != nil {
			return err
		}
		off, n = off+part, n-part
	}
	return nil
}

// fixed is a source of random bytes that is not random.
func fixed() io.Reader { return bytes.NewReader(bytes.Repeat([]byte("0123456789abcdef"), 16)) }

func makeAny(kind string, p Partition, label string) error {
	if kind == "swap" {
		return Swap(p, label, fixed())
	}
	return Make(kind, p, label, fixed())
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestMade checks the file systems with Debian's programs.
func TestMade(t *testing.T) {
	const id = `UUID="30313233-3435-4637-b839-616263646566"`
	for _, tc := range []struct {
		name, kind, label string
		size              int64
		sector            int
		blkid             string
		check             []string
	}{
		{"ESP", "vfat", "efi-part", 550 * mib, 512, `LABEL="efi-part" UUID="3332-3130" BLOCK_SIZE="512" TYPE="vfat"`,
			[]string{"fsck.vfat", "-n"}},
		{"ESP on 4Kn", "vfat", "efi-part", 550 * mib, 4096,
			`LABEL="efi-part" UUID="3332-3130" BLOCK_SIZE="4096" TYPE="vfat"`, []string{"fsck.vfat", "-n"}},
		{"small vfat", "vfat", "", 36 * mib, 512, `UUID="3332-3130" BLOCK_SIZE="512" TYPE="vfat"`,
			[]string{"fsck.vfat", "-n"}},
		{"large vfat", "vfat", "ephemeral0", 40 * gib, 512,
			`LABEL="ephemeral0" UUID="3332-3130" BLOCK_SIZE="512" TYPE="vfat"`, []string{"fsck.vfat", "-n"}},
		{"swap", "swap", "swap1", 512 * mib, 512, `LABEL="swap1" ` + id + ` TYPE="swap"`, []string{"swaplabel"}},
		{"swap on 4Kn", "swap", "swap1", 512 * mib, 4096, `LABEL="swap1" ` + id + ` TYPE="swap"`, []string{"swaplabel"}},
		{"ext4", "ext4", "ephemeral0", 1 * gib, 512, `LABEL="ephemeral0" ` + id + ` BLOCK_SIZE="4096" TYPE="ext4"`,
			[]string{"e2fsck", "-fn"}},
		{"ext4 on 4Kn", "ext4", "ephemeral0", 3 * gib, 4096, `LABEL="ephemeral0" ` + id + ` BLOCK_SIZE="4096" TYPE="ext4"`,
			[]string{"e2fsck", "-fn"}},
		{"least ext4", "ext4", "", extLeast, 512, id + ` BLOCK_SIZE="4096" TYPE="ext4"`, []string{"e2fsck", "-fn"}},
		{"ext4 with a last group too small", "ext4", "", 1*gib + 2*mib, 512, id + ` BLOCK_SIZE="4096" TYPE="ext4"`,
			[]string{"e2fsck", "-fn"}},
		{"ext4 with a small last group", "ext4", "", 1*gib + 5*mib, 512, id + ` BLOCK_SIZE="4096" TYPE="ext4"`,
			[]string{"e2fsck", "-fn"}},
		{"large ext4", "ext4", "", 100 * gib, 512, id + ` BLOCK_SIZE="4096" TYPE="ext4"`, []string{"e2fsck", "-fn"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFile(t, tc.size, tc.sector)
			if err := makeAny(tc.kind, f, tc.label); err != nil {
				t.Fatal(err)
			}
			got := run(t, "blkid", "-p", "-s", "LABEL", "-s", "UUID", "-s", "BLOCK_SIZE", "-s", "TYPE", f.Name())
			if _, after, _ := strings.Cut(strings.TrimSpace(got), ": "); strings.TrimSpace(after) != tc.blkid {
				t.Errorf("blkid says %s, want %s", after, tc.blkid)
			}
			t.Log(run(t, tc.check[0], append(tc.check[1:], f.Name())...))
		})
	}
}

// TestFilledExt4 writes more into an ext4 than its first group holds, and has
// e2fsck look again: groups that were only described must come out right.
func TestFilledExt4(t *testing.T) {
	f := newFile(t, 400*mib, 512)
	if err := Make("ext4", f, "", fixed()); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("0123456789abcdef"), 160*mib/16), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "debugfs", "-w", "-R", "write "+big+" big", f.Name())
	run(t, "e2fsck", "-fn", f.Name())
	back := filepath.Join(t.TempDir(), "back")
	run(t, "debugfs", "-R", "dump big "+back, f.Name())
	run(t, "cmp", big, back)
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		kind, label string
		size        int64
		want        string
	}{
		{"xfs", "", gib, `file system "xfs" cannot be made here, expected one of ext4, vfat`},
		{"ext4", "", 100 * mib, "make ext4: the partition has 104857600 bytes, expected 268435456 to 35184372088832"},
		{"ext4", "seventeen letters", gib, `make ext4: label "seventeen letters" has 17 bytes, expected at most 16`},
		{"swap", "seventeen letters", gib, `make swap space: label "seventeen letters" has 17 bytes, expected at most 16`},
		{"swap", "", 4096, "make swap space: 4096 bytes are too few for swap space, expected at least"},
		{"vfat", "twelve chars", gib, `make vfat: label "twelve chars" has 12 bytes, expected at most 11`},
		{"vfat", "", 8 * mib, "make vfat: 8388608 bytes give 16100 clusters, expected 65525 to"},
		{"vfat", "", 3 << 40, "make vfat: 3298534883328 bytes are more than a FAT32 on sectors of 512 bytes can have"},
	} {
		f := newFile(t, tc.size, 512)
		if err := makeAny(tc.kind, f, tc.label); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s of %d: %v, want %s", tc.kind, tc.size, err, tc.want)
		}
		b := make([]byte, 4)
		if _, err := f.ReadAt(b, 1024); err != nil || string(b) != "OLD!" {
			t.Errorf("%s of %d was refused after it was written to: %q, %v", tc.kind, tc.size, b, err)
		}
	}
}

// TestWriteFails: the error of every write is returned.
func TestWriteFails(t *testing.T) {
	for _, kind := range []string{"ext4", "swap", "vfat"} {
		for n := 0; ; n++ {
			f := &failing{newFile(t, gib, 512), n}
			err := makeAny(kind, f, "x")
			if err == nil {
				break
			}
			if !errors.Is(err, errFull) {
				t.Fatalf("%s, write %d: %v", kind, n, err)
			}
		}
	}
}

var errFull = errors.New("no more")

// failing does so many writes.
type failing struct {
	*file
	left int
}

func (f *failing) WriteAt(p []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return f.file.WriteAt(p, off)
}
