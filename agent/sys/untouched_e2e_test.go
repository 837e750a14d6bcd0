//go:build e2e

package sys

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestE2EMountUntouched reads a file of each file system after a power cut, and finds the
// disk as it was: no journal was replayed. Machines that run tests may have no vfat.
func TestE2EMountUntouched(t *testing.T) {
	for kind, mkfs := range map[string][]string{
		"ext4": {"mkfs.ext4", "-q"}, "xfs": {"mkfs.xfs", "-q"}, "btrfs": {"mkfs.btrfs", "-q"},
	} {
		t.Run(kind, func(t *testing.T) {
			size := int64(120 << 20)
			if kind == "xfs" {
				size = 300 << 20 // the least that mkfs.xfs makes
			}
			dir := t.TempDir()
			live, cut := filepath.Join(dir, "live"), filepath.Join(dir, "cut")
			if err := errors.Join(os.WriteFile(live, nil, 0o600), os.Truncate(live, size)); err != nil {
				t.Fatal(err)
			}
			program(t, append(mkfs, live)...)
			dev := loop(t, live)
			put(t, dev, kind, "first")
			tree := write(t, dev, kind, "second")          // which stays in the journal
			program(t, "cp", "--sparse=always", live, cut) // as the power would leave it
			if err := tree.Close(); err != nil {
				t.Fatal(err)
			}
			before := sum(t, cut)
			readFirst(t, loop(t, cut), kind)
			unix.Sync()
			if after := sum(t, cut); after != before {
				t.Error("the file system has changed")
			}
		})
	}
	if _, err := (Linux{}).MountUntouched("/dev/null", "ntfs"); err == nil ||
		!strings.Contains(err.Error(), "found ntfs") {
		t.Error(err)
	}
}

// put writes a file, and unmounts.
func put(t *testing.T, dev, kind, name string) {
	t.Helper()
	if err := write(t, dev, kind, name).Close(); err != nil {
		t.Fatal(err)
	}
}

// write writes a file, and leaves its file system mounted.
func write(t *testing.T, dev, kind, name string) *Tree {
	t.Helper()
	tree, err := Linux{}.MountTree(dev, kind, false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := tree.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(name)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return tree
}

// readFirst reads a file through package fs.
func readFirst(t *testing.T, dev, kind string) {
	t.Helper()
	tree, err := Linux{}.MountUntouched(dev, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() // only read from
	text, err := fs.ReadFile(tree.FS(), "first")
	if err != nil || string(text) != "first" {
		t.Errorf("read %q, error %v", text, err)
	}
	if _, err := tree.Create("new"); !errors.Is(err, unix.EROFS) {
		t.Errorf("writing: %v", err)
	}
}

func program(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// loop is a block device of a file.
func loop(t *testing.T, path string) string {
	t.Helper()
	dev := program(t, "losetup", "-f", "--show", path)
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "-d", dev).CombinedOutput(); err != nil {
			t.Errorf("losetup -d %s: %v: %s", dev, err, out)
		}
	})
	return dev
}

func sum(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
