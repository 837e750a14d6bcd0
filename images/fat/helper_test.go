package fat

import (
	"fmt"
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

// makeFAT makes a file system with mkfs.vfat and copies files into it with mtools.
func makeFAT(t testing.TB, size int64, mkfs []string, files map[string]string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	run(t, "", "mkfs.vfat", append(mkfs, path)...)
	made := map[string]bool{}
	for name, content := range files {
		dir := "::"
		for _, part := range strings.Split(name, "/")[:strings.Count(name, "/")] {
			if dir += "/" + part; !made[dir] {
				run(t, "", "mmd", "-i", path, dir)
				made[dir] = true
			}
		}
		run(t, content, "mcopy", "-i", path, "-", "::/"+name)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// partition is a sparse file, as strict about alignment as a device.
type partition struct {
	*os.File
	t      *testing.T
	size   int64
	sector int
}

func newPartition(t *testing.T, size int64, sector int) *partition {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "partition"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // read by then
	if _, err := f.WriteAt([]byte(strings.Repeat("OLD!", mib)), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return &partition{f, t, size, sector}
}

func (p *partition) Size() int64            { return p.size }
func (p *partition) LogicalSectorSize() int { return p.sector }

func (p *partition) WriteAt(b []byte, off int64) (int, error) {
	if err := p.aligned(off, int64(len(b))); err != nil {
		return 0, err
	}
	return p.File.WriteAt(b, off)
}

func (p *partition) Zero(off, n int64) error {
	if err := p.aligned(off, n); err != nil {
		return err
	}
	_, err := p.File.WriteAt(make([]byte, n), off)
	return err
}

func (p *partition) aligned(off, n int64) error {
	if s := int64(p.sector); off < 0 || n < 0 || off+n > p.size || off%s != 0 || n%s != 0 {
		return fmt.Errorf("bad write: %d bytes at %d of %d", n, off, p.size)
	}
	return nil
}
