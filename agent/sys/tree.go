package sys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Tree is a folder used as a root. Symbolic links are resolved within it, and no path
// leads out of it. Paths may be absolute or relative, with the same meaning. Close
// closes it.
type Tree struct {
	root   *os.File
	source string // for errors
}

// OpenTree takes a folder for a root.
func OpenTree(folder string) (*Tree, error) {
	f, err := os.OpenFile(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &Tree{f, folder}, nil
}

// MountTree mounts the file system of kind fstype on a block device where no
// path leads to: only the tree can be used to reach it, and closing the tree
// unmounts it, also when the agent dies. Programs and device nodes on it are
// dead. A read-only mount of a journalling file system may still replay its
// journal.
func (Linux) MountTree(device, fstype string, readOnly bool) (*Tree, error) {
	var flags []string
	if readOnly {
		flags = append(flags, "ro")
	}
	return named(device, fstype)(mountTree(device, fstype, readOnly, flags...))
}

// unreplayed are the mount options with which nothing is written, not even a journal, by
// file system. Boot loaders read likewise. Of btrfs they see the top level, which need
// not be the subvolume that is mounted by default.
var unreplayed = map[string][]string{
	"ext4": {"ro", "noload"}, "xfs": {"ro", "norecovery"}, "btrfs": {"ro", "rescue=nologreplay", "subvolid=5"},
	"vfat": {"ro"},
}

// MountUntouched is MountTree for reading alone, of a file system that stays as it is to
// the last byte.
func (Linux) MountUntouched(device, fstype string) (*Tree, error) {
	flags, ok := unreplayed[fstype]
	if !ok {
		return nil, fmt.Errorf("mount %s untouched: expected ext4, xfs, btrfs or vfat, found %s", device, fstype)
	}
	return named(device, fstype)(mountTree(device, fstype, true, flags...))
}

// named adds the device and the file system to an error of mounting.
func named(device, fstype string) func(*Tree, error) (*Tree, error) {
	return func(t *Tree, err error) (*Tree, error) {
		if errors.Is(err, unix.ENODEV) {
			return nil, fmt.Errorf("mount %s: this kernel has no file system %s: %w", device, fstype, err)
		}
		if err != nil {
			return nil, fmt.Errorf("mount %s as %s: %w", device, fstype, err)
		}
		return t, nil
	}
}

func mountTree(device, fstype string, readOnly bool, flags ...string) (t *Tree, err error) {
	attributes := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	if readOnly {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	root, err := newMount(fstype, device, attributes, flags...)
	if err != nil {
		return nil, err
	}
	return &Tree{os.NewFile(uintptr(root), device), device}, nil
}

// chosenByDisk are the mount options that a superblock would choose, by file system: errors=panic there stops the
// machine (ext4's s_errors and s_mount_opts). The superblocks of xfs, btrfs and vfat have none.
var chosenByDisk = map[string][]string{"ext4": {"errors=remount-ro"}}

// newMount mounts a file system where no path leads to, and returns its root. Flags are
// options, with or without a value.
func newMount(fstype, source string, attributes int, flags ...string) (root int, err error) {
	fd, err := unix.Fsopen(fstype, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	if err := unix.FsconfigSetString(fd, "source", source); err != nil {
		return -1, err
	}
	for _, f := range slices.Concat(chosenByDisk[fstype], flags) {
		key, value, has := strings.Cut(f, "=")
		if has {
			err = unix.FsconfigSetString(fd, key, value)
		} else {
			err = unix.FsconfigSetFlag(fd, f)
		}
		if err != nil {
			return -1, fmt.Errorf("option %s: %w", f, err)
		}
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return -1, err
	}
	return unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, attributes)
}

// FS is the tree for reading, as package fs has it. Its files are *os.File.
func (t *Tree) FS() fs.FS { return treeFS{t} }

type treeFS struct{ t *Tree }

// Open opens a file or a folder. A pipe does not make it wait.
func (f treeFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := f.t.open(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadDir is for package fs, which would read a folder whole.
func (f treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return f.t.ReadDir(name)
}

// open opens a path with the root as its whole world.
func (t *Tree) open(name string, flags int, mode fs.FileMode) (*os.File, error) {
	how := unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode.Perm()),
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(int(t.root.Fd()), "./"+strings.TrimLeft(name, "/"), &how)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue // something was renamed meanwhile; the kernel asks to try again
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}

// Open opens a regular file for reading.
func (t *Tree) Open(name string) (*os.File, error) {
	return regular(t.open(name, unix.O_RDONLY|unix.O_NONBLOCK, 0))
}

// Create opens a regular file for writing, empty, making it with mode 0644
// when it is not there.
func (t *Tree) Create(name string) (*os.File, error) {
	f, err := regular(t.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_NONBLOCK, 0o644))
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular refuses an open file that is not regular: a pipe would wait for its other
// end.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a regular file, found %s", f.Name(), info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// folder opens a folder to work in.
func (t *Tree) folder(name string) (*os.File, error) {
	return t.open(name, unix.O_PATH|unix.O_DIRECTORY, 0)
}

// Chmod sets a file's mode, as chmod(2) has it.
func (t *Tree) Chmod(f *os.File, mode uint32) error {
	if err := unix.Fchmod(int(f.Fd()), mode); err != nil {
		return &fs.PathError{Op: "chmod", Path: f.Name(), Err: err}
	}
	return nil
}

// IsDir reports whether a path leads to a folder.
func (t *Tree) IsDir(name string) (bool, error) {
	f, err := t.folder(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// maxEntries bounds a folder that is listed: the image's maker chose how many files it has.
const maxEntries = 10000

// readDir lists an open folder, in the order of names.
func readDir(f *os.File) ([]fs.DirEntry, error) {
	entries, err := f.ReadDir(maxEntries + 1)
	if errors.Is(err, io.EOF) {
		err = nil // an empty folder
	}
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("%s has over %d files", f.Name(), maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ReadDir lists a folder, in the order of names.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := t.open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readDir(f)
}

// MkdirAll makes a folder and those above it, with mode 0755. The folder
// itself gets leaf as its mode, as chmod(2) has it, when that is not zero and
// the folder was not there.
func (t *Tree) MkdirAll(name string, leaf uint32) error {
	name = path.Clean("/" + name)
	is, err := t.IsDir(name)
	if is || err != nil {
		return err
	}
	if err := t.MkdirAll(path.Dir(name), 0); err != nil {
		return err
	}
	above, err := t.folder(path.Dir(name))
	if err != nil {
		return err
	}
	defer above.Close()
	if err := unix.Mkdirat(int(above.Fd()), path.Base(name), 0o755); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	if leaf == 0 {
		leaf = 0o755 // the umask may have taken some of it
	}
	if err := unix.Fchmodat(int(above.Fd()), path.Base(name), leaf, 0); err != nil {
		return &fs.PathError{Op: "chmod", Path: name, Err: err}
	}
	return nil
}

// Remove removes a file or a symbolic link. A missing one is no error.
func (t *Tree) Remove(name string) error {
	name = path.Clean("/" + name)
	above, err := t.folder(path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer above.Close()
	if err := unix.Unlinkat(int(above.Fd()), path.Base(name), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// Sync waits until all that was written is on the medium.
func (t *Tree) Sync() error {
	f, err := t.open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", t.source, err)
	}
	return nil
}

// Close closes the tree.
func (t *Tree) Close() error { return t.root.Close() }
