package disk

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// memDisk is a disk in memory, as strict about alignment as Device.
type memDisk struct {
	b      []byte
	sector int
	deaf   bool // Zero claims success and does nothing
	writes int  // and zeroings
}

// newDisk returns a zeroed disk for the length of a test. Its memory is the kernel's:
// Go's would be cleared, and with it all that the race detector keeps of it, where
// most of a disk is never looked at.
func newDisk(t testing.TB, size int64, sector int) *memDisk {
	t.Helper()
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("memory for a disk of %d bytes: %v", size, err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	return &memDisk{b: b, sector: sector}
}

func (m *memDisk) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > m.Size() {
		return 0, fmt.Errorf("read beyond the end: %d bytes at %d", len(p), off)
	}
	return copy(p, m.b[off:]), nil
}

func (m *memDisk) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > m.Size() || off%int64(m.sector) != 0 || len(p)%m.sector != 0 {
		return 0, fmt.Errorf("bad write: %d bytes at %d", len(p), off)
	}
	m.writes++
	return copy(m.b[off:], p), nil
}

func (m *memDisk) Zero(off, n int64) error {
	if off < 0 || n < 0 || off+n > m.Size() || off%int64(m.sector) != 0 || n%int64(m.sector) != 0 {
		return fmt.Errorf("bad zero: %d bytes at %d", n, off)
	}
	m.writes++
	if !m.deaf {
		clear(m.b[off : off+n])
	}
	return nil
}

func (m *memDisk) Size() int64            { return int64(len(m.b)) }
func (m *memDisk) LogicalSectorSize() int { return m.sector }
func (m *memDisk) Flush() error           { return nil }

// fixed is a source of random bytes that is not random.
func fixed() io.Reader { return bytes.NewReader(bytes.Repeat([]byte("0123456789abcdef"), 16)) }

// run runs a program of the test dependencies.
func run(t testing.TB, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// onFile lets a program work on the disk's bytes in a file.
func onFile(t testing.TB, d *memDisk, do func(path string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, d.b, 0o600); err != nil {
		t.Fatal(err)
	}
	do(path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d.b = b
}

// golden compares with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// dump prints the lines of b that are not zero.
func dump(b []byte) string {
	var out strings.Builder
	for off := 0; off < len(b); off += 16 {
		if line := b[off:min(off+16, len(b))]; !isZero(line) {
			fmt.Fprintf(&out, "%08x  % x\n", off, line)
		}
	}
	return out.String()
}
