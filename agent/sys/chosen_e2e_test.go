//go:build e2e

package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestE2EDiskChoosesNoOptions mounts file systems with a superblock that asks for a panic upon an error, in both
// places where ext4 can hold that, and reads with which options the kernel has them.
func TestE2EDiskChoosesNoOptions(t *testing.T) {
	for name, tune := range map[string][]string{
		"s_errors": {"-e", "panic"}, "s_mount_opts": {"-E", "mount_opts=errors=panic"},
	} {
		file := filepath.Join(t.TempDir(), "disk")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 8<<20)); err != nil {
			t.Fatal(err)
		}
		program(t, "mkfs.ext4", "-q", file)
		program(t, append(append([]string{"tune2fs"}, tune...), file)...)
		dev := loop(t, file)
		for way, mount := range map[string]func() (*Tree, error){
			"MountTree":      func() (*Tree, error) { return Linux{}.MountTree(dev, "ext4", false) },
			"read-only":      func() (*Tree, error) { return Linux{}.MountTree(dev, "ext4", true) },
			"MountUntouched": func() (*Tree, error) { return Linux{}.MountUntouched(dev, "ext4") },
		} {
			tree, err := mount()
			if err != nil {
				t.Fatal(err)
			}
			if got := optionsOf(t, int(tree.root.Fd())); !strings.Contains(got, "errors=remount-ro") {
				t.Errorf("%s, %s: %s", name, way, got)
			}
			if err := tree.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// optionsOf are the options of a mount, by moving it to where a path leads, out of everybody's sight.
func optionsOf(t *testing.T, fd int) (options string) {
	t.Helper()
	at := t.TempDir()
	onThread(func() {
		err := errors.Join(unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_FS),
			unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), moveMount(fd, at))
		mounts, readErr := os.ReadFile("/proc/thread-self/mountinfo")
		for line := range strings.Lines(string(mounts)) {
			if strings.Contains(line, " "+at+" ") {
				options = line
			}
		}
		if err := errors.Join(err, readErr, unmount(at, unix.MNT_DETACH)); err != nil {
			t.Error(err)
		}
	})
	return options
}
