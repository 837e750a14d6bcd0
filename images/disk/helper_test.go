package disk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// memTarget is a disk in memory full of stale data, as strict about
// alignment as a device opened with O_DIRECT.
type memTarget struct {
	mu      sync.Mutex
	b       []byte
	sector  int
	zeroes  int // calls of Zero
	writes  int
	failAt  int64 // a write touching this offset fails; -1 never
	flushed int
}

// newMemTarget returns a dirty disk.
func newMemTarget(size int64, sector int) *memTarget {
	return &memTarget{b: bytes.Repeat([]byte{0xda}, int(size)), sector: sector, failAt: -1}
}

func (m *memTarget) check(off, n int64) error {
	if off%int64(m.sector) != 0 || n%int64(m.sector) != 0 {
		return fmt.Errorf("unaligned: %d bytes at %d", n, off)
	}
	if off+n > int64(len(m.b)) {
		return fmt.Errorf("beyond the end: %d bytes at %d of %d", n, off, len(m.b))
	}
	return nil
}

func (m *memTarget) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if err := m.check(off, int64(len(p))); err != nil {
		return 0, err
	}
	if m.failAt >= off && m.failAt < off+int64(len(p)) {
		return 0, fmt.Errorf("medium error at %d", m.failAt)
	}
	return copy(m.b[off:], p), nil
}

func (m *memTarget) Zero(off, n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.zeroes++
	if err := m.check(off, n); err != nil {
		return err
	}
	clear(m.b[off : off+n])
	return nil
}

func (m *memTarget) Size() int64            { return int64(len(m.b)) }
func (m *memTarget) LogicalSectorSize() int { return m.sector }
func (m *memTarget) Flush() error           { m.flushed++; return nil }

// memSource is an image in memory.
type memSource struct {
	b       []byte
	unknown bool // size is not announced
}

func (s memSource) Name() string { return "mem" }
func (s memSource) Size() int64 {
	if s.unknown {
		return -1
	}
	return int64(len(s.b))
}
func (s memSource) Head() []byte { return s.b[:min(len(s.b), headSize)] }
func (s memSource) Body(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.b)), nil
}
func (s memSource) ReadRange(_ context.Context, p []byte, off int64) error {
	_, err := bytes.NewReader(s.b).ReadAt(p, off)
	return err
}

// sequential hides a source's ReadRange.
type sequential struct{ Source }

// pattern is a disk of noise, zeroes and text, with the edges that matter:
// short zero runs, zeroes at the end, and no zeroes at a chunk's edge.
func pattern(size int64, seed uint64) []byte {
	r := rand.New(rand.NewChaCha8([32]byte{byte(seed)}))
	b := make([]byte, size)
	for off := int64(0); off < size; {
		n := min(size-off, 512*(1+r.Int64N(1500)))
		switch part := b[off : off+n]; r.IntN(4) {
		case 0, 1:
		case 2:
			for i := range part {
				part[i] = byte(r.Uint32())
			}
		case 3:
			for i := range part {
				part[i] = "ferrite writes disks; "[i%22]
			}
		}
		off += n
	}
	copy(b, "boot code")
	b[510], b[511] = 0x55, 0xaa
	return b
}

// qemuImg runs the real qemu-img, a test dependency.
func qemuImg(t testing.TB, args ...string) {
	t.Helper()
	out, err := exec.Command("qemu-img", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("qemu-img %v: %v\n%s(Debian's qemu-utils is needed for these tests)", args, err, out)
	}
}

// convert makes an image of raw with qemu-img and returns its bytes.
func convert(t testing.TB, raw []byte, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.raw"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	qemuImg(t, append(append([]string{"convert", "-f", "raw"}, args...), in, out)...)
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sameDisk compares without printing megabytes.
func sameDisk(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("disks differ from offset %d of %d (got %d bytes)", i, len(want), len(got))
		}
	}
}

// qemuIO runs qemu-io commands on a qcow2.
func qemuIO(image string, cmds ...string) error {
	args := []string{"-d", "unmap", "-f", "qcow2"}
	for _, c := range cmds {
		args = append(args, "-c", c)
	}
	out, err := exec.Command("qemu-io", append(args, image)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
