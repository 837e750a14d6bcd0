package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// harmless are the character devices of every program.
var harmless = map[string][2]uint32{"null": {1, 3}, "zero": {1, 5}, "full": {1, 7}, "random": {1, 8}, "urandom": {1, 9},
	"tty": {5, 0}}

// devices makes a /dev, mounted outside of any path. It has the devices that every program needs, the disks with their
// partitions, and other names of disks, which udev makes elsewhere. Without the names by UUID grub-mkconfig writes the
// device name of the ramdisk's kernel, which the operating system may give to another disk.
func (c *Chroot) devices() (root int, err error) {
	root, err = newMount("tmpfs", "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, smallTmpfs...)
	if err != nil {
		return -1, err
	}
	err = c.fillDevices(root)
	if err == nil { // for good: devices are written to all the same
		err = unix.MountSetattr(root, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(root))
	}
	return root, nil
}

func (c *Chroot) fillDevices(root int) error {
	for name, number := range harmless {
		if err := makeNode(root, name, unix.S_IFCHR|0o666, unix.Mkdev(number[0], number[1])); err != nil {
			return err
		}
	}
	links := map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
	paths := slices.Clone(c.Disks)
	for _, d := range c.Disks {
		paths = append(paths, partitions(d)...)
	}
	for _, m := range c.Mounts {
		paths = append(paths, m.Device)
		if m.UUID != "" {
			links["disk/by-uuid/"+filepath.Base(m.UUID)] = m.Device
		}
	}
	for _, path := range paths {
		if err := copyNode(root, path); err != nil {
			return err
		}
	}
	for name, to := range links {
		if err := errors.Join(makeFolders(root, name), unix.Symlinkat(to, root, name)); err != nil {
			return fmt.Errorf("make /dev/%s: %w", name, err)
		}
	}
	return nil
}

// partitions are the device nodes of a disk's partitions. A "!" in a name of sysfs stands for a slash.
func partitions(disk string) (paths []string) {
	name := strings.ReplaceAll(strings.TrimPrefix(disk, "/dev/"), "/", "!")
	marks, _ := filepath.Glob(filepath.Join("/sys/class/block", name, "*", "partition")) // the pattern is well-formed
	for _, mark := range marks {
		paths = append(paths, "/dev/"+strings.ReplaceAll(filepath.Base(filepath.Dir(mark)), "!", "/"))
	}
	return paths
}

// copyNode makes a block device of the machine's /dev in another.
func copyNode(root int, path string) error {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	name, ok := strings.CutPrefix(path, "/dev/")
	if !ok || s.Mode&unix.S_IFMT != unix.S_IFBLK {
		return fmt.Errorf("%s: expected a block device in /dev", path)
	}
	if err := makeFolders(root, name); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return makeNode(root, name, unix.S_IFBLK|0o600, s.Rdev)
}

// makeNode makes a device node, unless it is there.
func makeNode(root int, name string, mode uint32, number uint64) error {
	err := unix.Mknodat(root, name, mode, int(number))
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	if err == nil {
		err = unix.Fchmodat(root, name, mode&0o777, 0) // the umask may have taken some of it
	}
	if err != nil {
		return fmt.Errorf("make /dev/%s: %w", name, err)
	}
	return nil
}

// makeFolders makes the folders above a name.
func makeFolders(root int, name string) error {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if err := unix.Mkdirat(root, name[:i], 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}
