package sys

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenFolder: folders of an image are found and made by its own links, and never through the kernel's.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	for link, to := range map[string]string{
		"plain": "own", "magic": "/proc/self/root" + outside, "cwd": "/proc/self/cwd", "chain": "magic",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(outside, 0o700), os.Mkdir(filepath.Join(dir, "own"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]error{
		"own": nil, "new/and/below": nil, "plain/below": nil,
		"magic": unix.ELOOP, "magic/below": unix.ELOOP, "chain/below": unix.ELOOP, "cwd": unix.ELOOP,
	} {
		fd, err := openFolder(filepath.Join(dir, at))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", at, err, want)
		}
		if err == nil {
			unix.Close(fd)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "own/below")); err != nil {
		t.Error(err)
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) > 0 {
		t.Errorf("made outside of the image: %v, %v", made, err)
	}
}

// TestTmpfsBounds: an image's programs cannot take the machine's memory by files, nor by many empty ones.
func TestTmpfsBounds(t *testing.T) {
	for _, own := range furniture {
		if own.kind != "tmpfs" {
			continue
		}
		fd, err := newMount(own.kind, own.kind, own.attributes, own.options...)
		if errors.Is(err, unix.EPERM) {
			t.Skip("mounting takes root")
		}
		if err != nil {
			t.Fatal(err)
		}
		var s unix.Statfs_t
		err = errors.Join(unix.Fstatfs(fd, &s), unix.Close(fd))
		if size := int64(s.Blocks) * s.Bsize; err != nil || size != 64<<20 || s.Files != 16<<10 {
			t.Errorf("%s: %d bytes, %d files, %v", own.at, size, s.Files, err)
		}
	}
}
