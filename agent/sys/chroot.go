package sys

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Chroot is an installed operating system that can run its own programs.
type Chroot struct {
	Mounts []ChrootMount // the first is its root, at /
	Disks  []string      // that programs see, with their partitions; they see no other
	Env    []string
	// Start starts a program and waits for its end; process 1 has to know its
	// children.
	Start func(*exec.Cmd) error
	Log   *slog.Logger

	nothing *os.File // standard input of programs
	group   *group   // that programs are in
}

// ChrootMount is a file system of the operating system on a block device. Programs
// find the device under its file system's UUID, if it has one.
type ChrootMount struct {
	Device, Kind, At, UUID string
}

// How file systems are mounted: from the installed programs run, from the
// kernel's own none; device nodes on either are dead. The kernel's own that show the
// machine change nothing of it: kernel.core_pattern, say, names a program that is run
// outside.
const (
	installed = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	quiet     = installed | unix.MOUNT_ATTR_NOEXEC
	shown     = quiet | unix.MOUNT_ATTR_RDONLY
)

// smallTmpfs bounds a tmpfs of an image by bytes and by files: its programs would fill the machine's memory, half of it
// each by the kernel's default, and with it end the agent.
var smallTmpfs = []string{"size=64m", "nr_inodes=16k"}

// furniture are the kernel's own file systems in an image, beside /dev.
var furniture = []struct {
	kind, at   string
	attributes int
	options    []string
}{{"proc", "/proc", shown, nil}, {"sysfs", "/sys", shown, nil}, {"tmpfs", "/run", quiet, smallTmpfs},
	{"tmpfs", "/tmp", quiet, smallTmpfs}}

// kernels are the folders of file systems that are not the image's.
var kernels = []string{"/proc", "/sys", "/run", "/tmp", "/dev"}

// chrootOutput is how much of the end of a program's output is kept, bytes.
const chrootOutput = 4 << 10

// InChroot mounts an operating system, with the kernel's own file systems and the
// devices of its disks at their usual places. do then runs programs of it, one after the
// other, by their absolute paths. The mounts are in a namespace of their own: nothing
// else sees them, and they end with it even where unmounting fails. Programs have no
// network, see no process and no disk but their own, and cannot outlive the first (Inside);
// their output is returned. They are root, without all that makes root of a machine.
func (Linux) InChroot(
	ctx context.Context, c Chroot, do func(run func(argv ...string) (output string, err error)) error,
) error {
	var err error
	onThread(func() {
		err = c.enter(func() error {
			return do(func(argv ...string) (string, error) { return c.run(ctx, argv) })
		})
	})
	return err
}

// onThread does something on a thread that ends with it, and that is not the
// process's first: that one would stay as it was made.
func onThread(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		if unix.Gettid() == unix.Getpid() {
			onThread(do)
			runtime.UnlockOSThread()
			return
		}
		do()
	}()
	<-done
}

// enter does it all, on a thread of its own.
func (c *Chroot) enter(do func() error) (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return fmt.Errorf("new namespace for mounts: %w", err)
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts private: %w", err)
	}
	outside, err := os.OpenFile("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer outside.Close()
	// A program of the image can put anything in place of its own /dev/null, which os/exec would open with our rights.
	if c.nothing, err = os.Open(os.DevNull); err != nil {
		return err
	}
	defer c.nothing.Close()
	devices, err := c.devices()
	if err != nil {
		return fmt.Errorf("make the image's /dev: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(devices)) }()
	root, err := os.MkdirTemp("", "chroot")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(root)) }()
	if err := mountAt(c.Mounts[0], root, installed); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount(root, 0)) }()
	if err := errors.Join(unix.Chroot(root), unix.Chdir("/")); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Fchdir(int(outside.Fd())), unix.Chroot(".")) }()
	return c.furnish(devices, do)
}

// furnish mounts the kernel's file systems into the root, calls do, and unmounts them.
func (c *Chroot) furnish(devices int, do func() error) (err error) {
	for _, own := range furniture {
		if err := mountAt(ChrootMount{Device: own.kind, Kind: own.kind}, own.at, own.attributes, own.options...); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unmount(own.at, unix.MNT_DETACH)) }()
	}
	if err := moveMount(devices, "/dev"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount("/dev", unix.MNT_DETACH)) }()
	for _, m := range c.Mounts[1:] {
		if err := mountAt(m, m.At, installed); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unmount(m.At, 0)) }()
	}
	var lacks error
	if c.group, lacks = newGroup(); lacks != nil {
		c.Log.Warn("the image's programs run without some limits, and may take the whole machine", "err", lacks)
	}
	defer func() {
		if err := c.group.end(); err != nil {
			c.Log.Warn("the image's programs are not known to have ended", "err", err)
		}
	}()
	defer unix.Sync()
	return do()
}

// mountAt mounts a file system.
func mountAt(m ChrootMount, at string, attributes int, options ...string) error {
	fd, err := newMount(m.Kind, m.Device, attributes, options...)
	if err != nil {
		return fmt.Errorf("mount %s as %s: %w", m.Device, m.Kind, err)
	}
	return errors.Join(moveMount(fd, at), unix.Close(fd))
}

// moveMount puts a mount where it belongs, making the folder if there is none.
func moveMount(fd int, at string) error {
	folder, err := openFolder(at)
	if err != nil {
		return fmt.Errorf("mount on %s: %w", at, err)
	}
	err = unix.MoveMount(fd, "", folder, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		err = fmt.Errorf("mount on %s: %w", at, err)
	}
	return errors.Join(err, unix.Close(folder))
}

// openFolder opens a folder by an absolute path, and makes missing parts of it. An image's links are followed within
// its own file systems, since it is the root by now. The kernel's links in /proc are not, because they lead out of any
// root. The folders of the kernel's file systems may be no links at all: a program of the image would lead /proc, and
// with it the agent's own program, to another place for the next one.
func openFolder(at string) (fd int, err error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if slices.Contains(kernels, at) {
		how.Resolve = unix.RESOLVE_NO_SYMLINKS
	}
	fd, err = unix.Openat2(unix.AT_FDCWD, at, how)
	if errors.Is(err, unix.ELOOP) && how.Resolve == unix.RESOLVE_NO_SYMLINKS {
		return -1, fmt.Errorf("%s is a link in the image, expected a folder: %w", at, err)
	}
	if !errors.Is(err, unix.ENOENT) || at == "/" {
		return fd, err
	}
	above, err := openFolder(filepath.Dir(at))
	if err != nil {
		return -1, err
	}
	defer unix.Close(above) //nolint:errcheck // only a path
	if err := unix.Mkdirat(above, filepath.Base(at), 0o755); err != nil {
		return -1, err
	}
	return unix.Openat2(above, filepath.Base(at), how)
}

func unmount(at string, flags int) error {
	if err := unix.Unmount(at, flags); err != nil {
		return fmt.Errorf("unmount %s: %w", at, err)
	}
	return nil
}

// run runs one program to its end.
func (c *Chroot) run(ctx context.Context, argv []string) (string, error) {
	out := &tail{}
	cmd := exec.CommandContext(ctx, argv[0])
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, "/", out, out
	cmd.Stdin = c.nothing
	inside(cmd, argv, c.group)
	if err := c.Start(cmd); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(append([]string{filepath.Base(argv[0])}, argv[1:]...),
			" "), err, out)
	}
	return out.String(), nil
}

// tail keeps the end of its input.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-chrootOutput):]
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.b)) }
