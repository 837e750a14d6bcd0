package disk

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

// history is a guest's writes to its disk: overwritten, discarded, zeroed and compressed, at places of any size and at
// whole clusters. Only the end of the last MiB is written, so that the file has holes too.
func history(seed uint64, size int64) []string {
	r := rand.New(rand.NewChaCha8([32]byte{byte(seed)}))
	cmds := []string{"write -P 7 9M 1M", "discard 3M 2M", "write -z 6M 1M", "write -z -u 12M 512k", "write -P 3 0 64k"}
	for i := range 60 {
		grain := int64(512) << r.IntN(12)
		n := grain * (1 + r.Int64N(3))
		off := r.Int64N((size-1<<20-n)/grain) * grain
		switch r.IntN(6) {
		case 0, 1, 2:
			cmds = append(cmds, fmt.Sprintf("write -P %d %d %d", 1+i%200, off, n))
		case 3:
			cmds = append(cmds, fmt.Sprintf("write -z %d %d", off, n))
		case 4:
			cmds = append(cmds, fmt.Sprintf("write -z -u %d %d", off, n))
		case 5:
			cmds = append(cmds, fmt.Sprintf("discard %d %d", off, n))
		}
	}
	return append(cmds, fmt.Sprintf("write -P 5 %d 512", size-512))
}

// TestAgainstQemu writes onto a dirty file and compares with qemu-img's output for the same image, for images with a
// history and an internal snapshot.
func TestAgainstQemu(t *testing.T) {
	t.Parallel()
	const size = 16<<20 + 3*512
	options := []string{
		"compat=0.10", "compat=1.1", "cluster_size=4k", "cluster_size=2M",
		"extended_l2=on", "extended_l2=on,cluster_size=16k", "extended_l2=on,cluster_size=128k",
		"extended_l2=on,cluster_size=2M", "extended_l2=on,compression_type=zstd",
	}
	for i, o := range options {
		t.Run(o, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			image, want := filepath.Join(dir, "i.qcow2"), filepath.Join(dir, "want.raw")
			made := convert(t, pattern(size, uint64(3+i)), "-c", "-O", "qcow2", "-o", o)
			if i%2 == 1 {
				made = convert(t, pattern(size, uint64(3+i)), "-O", "qcow2", "-o", o)
			}
			if err := os.WriteFile(image, made, 0o600); err != nil {
				t.Fatal(err)
			}
			qemuImg(t, "snapshot", "-c", "before", image)
			if err := qemuIO(image, history(uint64(i), size)...); err != nil {
				t.Fatal(err)
			}
			writeLikeQemu(t, image, want)
		})
	}
}

// TestSubclusters writes single subclusters, so that clusters begin, end and
// are interrupted by zeroes, and the file ends amid the last cluster.
func TestSubclusters(t *testing.T) {
	t.Parallel()
	for _, cluster := range []int64{16 << 10, 64 << 10, 2 << 20} {
		t.Run(fmt.Sprint(cluster), func(t *testing.T) {
			dir := t.TempDir()
			image := filepath.Join(dir, "i.qcow2")
			qemuImg(t, "create", "-q", "-f", "qcow2", "-o", fmt.Sprintf("extended_l2=on,cluster_size=%d", cluster), image, "24M")
			unit := cluster / subclusters
			var cmds []string
			for i, sub := range []int64{0, 31, 15, 16} {
				cmds = append(cmds, fmt.Sprintf("write -P %d %d %d", 10+i, int64(i)*cluster+sub*unit, unit))
			}
			for sub := int64(1); sub < subclusters; sub += 2 {
				cmds = append(cmds, fmt.Sprintf("write -P %d %d %d", 20+sub, 5*cluster+sub*unit, unit))
			}
			cmds = append(cmds, fmt.Sprintf("write -P 60 %d %d", 6*cluster, cluster),
				fmt.Sprintf("write -z %d %d", 6*cluster+3*unit, 2*unit),
				fmt.Sprintf("write -P 61 %d %d", 8*cluster+2*unit, unit))
			if err := qemuIO(image, cmds...); err != nil {
				t.Fatal(err)
			}
			writeLikeQemu(t, image, filepath.Join(dir, "want.raw"))
		})
	}
}

// writeLikeQemu writes the image onto a file of stale bytes and compares it with the output of qemu-img convert, at
// want.
func writeLikeQemu(t *testing.T, image, want string) {
	t.Helper()
	qemuImg(t, "convert", "-O", "raw", image, want)
	b, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	src, err := disktest.OpenFileSource(image)
	if err != nil {
		t.Fatal(err)
	}
	got := filepath.Join(t.TempDir(), "got")
	if err := os.WriteFile(got, bytes.Repeat([]byte("stale"), len(b)/5+1), 0o600); err != nil {
		t.Fatal(err)
	}
	dst, err := disktest.CreateFileTarget(got, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	if _, err := Write(context.Background(), src, dst, Options{}); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	sameDisk(t, a, b)
}
