//go:build e2e

package disk

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	image "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// loop makes a loop device of a file full of stale data.
func loop(t *testing.T, size int64, sector int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, bytes.Repeat([]byte{0xda}, int(size)), 0o600); err != nil {
		t.Fatal(err)
	}
	dev := strings.TrimSpace(run(t, "", "losetup", "-f", "--show", "-P", "-b", fmt.Sprint(sector), path))
	t.Cleanup(func() { run(t, "", "losetup", "-d", dev) })
	return dev
}

// open opens a device for the length of a test.
func open(t *testing.T, path string) *Device {
	t.Helper()
	d, err := OpenDevice(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return d
}

// partx lists the table's partitions as a foreign reader finds them: "1 2048 8192", in units of 512 bytes.
func partx(t *testing.T, dev string) string {
	t.Helper()
	out := run(t, "", "partx", "-g", "-r", "-o", "NR,START,SECTORS", dev)
	return strings.ReplaceAll(strings.TrimSpace(out), "\n", ", ")
}

// partitions lists the kernel's partitions, likewise. A kernel built without partition tables, as in small test
// machines, sees none.
func partitions(t *testing.T, dev string) string {
	t.Helper()
	var seen []string
	dirs, err := filepath.Glob("/sys/class/block/" + filepath.Base(dev) + "p*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		var line []string
		for _, f := range []string{"partition", "start", "size"} {
			b, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil {
				t.Fatal(err)
			}
			line = append(line, strings.TrimSpace(string(b)))
		}
		seen = append(seen, strings.Join(line, " "))
	}
	return strings.Join(seen, ", ")
}

// TestE2EDeployOntoLoop goes the way of a deployment: wipe, write an image, move
// the backup table, add the config drive, let the kernel read it all again.
func TestE2EDeployOntoLoop(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		for _, format := range []string{"raw", "qcow2"} {
			t.Run(fmt.Sprintf("%s onto %d", format, sector), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				dev := loop(t, 200<<20, sector)
				d := open(t, dev)
				if d.Size() != 200<<20 || d.LogicalSectorSize() != sector {
					t.Fatalf("size %d, sectors of %d", d.Size(), d.LogicalSectorSize())
				}
				if _, err := WipeMetadata(ctx, d); err != nil {
					t.Fatal(err)
				}
				raw := twoParts(t, 32<<20, sector)
				for i := 0; i < 3<<20; i++ {
					raw.b[mib+i] = byte(i >> 9)
				}
				deploy(ctx, t, d, raw, format)
				p, err := WriteConfigDrive(d, drive(t, "hello"), rand.Reader)
				if err != nil {
					t.Fatal(err)
				}
				if err := d.RereadPartitions(ctx); err != nil {
					t.Fatal(err)
				}
				want := fmt.Sprintf("1 2048 8192, 2 10240 8192, 3 %d %d", p.Start/512, p.Size/512)
				if got := partx(t, dev); got != want {
					t.Errorf("partx finds %s, expected %s", got, want)
				}
				if seen := partitions(t, dev); seen != "" && seen != want {
					t.Errorf("the kernel sees %s, expected %s", seen, want)
				}
				checkDevice(t, dev, raw, p)
				wipeAgain(ctx, t, d, dev)
			})
		}
	}
}

// deploy writes an image of raw in a format.
func deploy(ctx context.Context, t *testing.T, d *Device, raw *memDisk, format string) {
	t.Helper()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "i.raw"), filepath.Join(dir, "i."+format)
	if err := os.WriteFile(path, raw.b, 0o600); err != nil {
		t.Fatal(err)
	}
	if format != "raw" {
		run(t, "", "qemu-img", "convert", "-c", "-O", format, path, out)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	src, err := disktest.OpenFileSource(out)
	if err != nil {
		t.Fatal(err)
	}
	check := image.Checksum{Algorithm: image.SHA256, Sum: hex.EncodeToString(sum[:])}
	if _, err := image.Write(ctx, src, d, image.Options{Format: format, Checksum: check}); err != nil {
		t.Fatal(err)
	}
}

// checkDevice lets foreign tools look at the device, and compares the page cache with the image.
func checkDevice(t *testing.T, dev string, raw *memDisk, drive Part) {
	t.Helper()
	if out := run(t, "", "sgdisk", "-v", dev); !strings.Contains(out, "No problems found") {
		t.Error(out)
	}
	run(t, "", "sfdisk", "--verify", dev)
	if out := run(t, "", "blkid", "-p", "-O", fmt.Sprint(drive.Start), "-S", fmt.Sprint(drive.Size),
		dev); !strings.Contains(out, `LABEL="config-2"`) {
		t.Error(out)
	}
	f, err := os.Open(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, len(raw.b)-mib) // the backup table has left the image's end
	if _, err := f.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	for _, span := range [][2]int{{0, 440}, {mib, len(got)}} { // the tables are not as in the image
		if !bytes.Equal(got[span[0]:span[1]], raw.b[span[0]:span[1]]) {
			t.Errorf("bytes %d to %d are not the image's", span[0], span[1])
		}
	}
}

// wipeAgain wipes the deployed disk and looks for remains.
func wipeAgain(ctx context.Context, t *testing.T, d *Device, dev string) {
	t.Helper()
	report, err := WipeMetadata(ctx, d)
	if err != nil || report.Partitions != 3 {
		t.Fatalf("%+v %v", report, err)
	}
	if err := d.RereadPartitions(ctx); err != nil {
		t.Fatal(err)
	}
	if seen := partitions(t, dev); seen != "" {
		t.Errorf("the kernel still sees %s", seen)
	}
	if out := run(t, "", "wipefs", dev); out != "" {
		t.Errorf("wipefs still finds:\n%s", out)
	}
}

// TestE2EDeviceUnaligned reads and writes at the edges of O_DIRECT's rules.
func TestE2EDeviceUnaligned(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		t.Run(fmt.Sprint(sector), func(t *testing.T) {
			d := open(t, loop(t, 16<<20, sector))
			data := make([]byte, 5<<20+1)
			for i := range data {
				data[i] = byte(i * 7)
			}
			odd := data[1:] // its address is aligned to nothing
			if _, err := d.WriteAt(odd, int64(sector)); err != nil {
				t.Fatal(err)
			}
			for _, r := range []struct{ off, n int64 }{{int64(sector), 5 << 20}, {int64(sector) + 1, 3<<20 + 17}, {5000, 1},
				{16<<20 - 3, 3}, {0, 0}} {
				got := make([]byte, r.n)
				if _, err := d.ReadAt(got, r.off); err != nil {
					t.Fatalf("%+v: %v", r, err)
				}
				if at := r.off - int64(sector); r.off < 5<<20 && r.n > 0 && !bytes.Equal(got, odd[at:at+r.n]) {
					t.Errorf("%+v reads back differently", r)
				}
			}
			if err := d.Zero(int64(sector), 1<<20); err != nil {
				t.Fatal(err)
			}
			if b, err := readAt(d, int64(sector), 1<<20); err != nil || !isZero(b) {
				t.Errorf("not zero: %v", err)
			}
			for _, bad := range []func() error{
				func() error { _, err := d.WriteAt(odd[:100], 0); return err },
				func() error { _, err := d.WriteAt(odd[:sector], 100); return err },
				func() error { _, err := d.WriteAt(odd[:sector], 16<<20); return err },
				func() error { _, err := d.ReadAt(odd[:10], 16<<20-5); return err },
				func() error { return d.Zero(0, 32<<20) },
			} {
				if bad() == nil {
					t.Error("a transfer outside the rules was done")
				}
			}
		})
	}
}

func TestE2EOpenDeviceRefusals(t *testing.T) {
	dev := loop(t, 16<<20, 512)
	held := open(t, dev)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := OpenDevice(ctx, dev); !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), dev) {
		t.Errorf("a device in use: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDevice(context.Background(), file); err == nil ||
		!strings.Contains(err.Error(), "expected a block device") {
		t.Errorf("a file: %v", err)
	}
	if _, err := OpenDevice(context.Background(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no device: %v", err)
	}
}

// TestE2ERereadWhileMounted: the kernel refuses while a partition is in use.
func TestE2ERereadWhileMounted(t *testing.T) {
	dev := loop(t, 32<<20, 512)
	run(t, "start=2048, size=32768, type=83\n", "sfdisk", "-q", "--label", "dos", dev)
	if _, err := os.Stat(dev + "p1"); err != nil {
		run(t, "", "partx", "-a", dev) // the kernel does not read tables itself
	}
	run(t, "", "mkfs.ext4", "-q", dev+"p1")
	dir := t.TempDir()
	if err := unix.Mount(dev+"p1", dir, "ext4", 0, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := OpenDevice(ctx, dev)
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EBUSY) {
		t.Errorf("a disk with a mounted partition: %v", err)
	}
	d := open(t, dev)
	if err := d.RereadPartitions(context.Background()); err != nil {
		t.Errorf("after unmount: %v", err)
	}
}
