package sys

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// limits bound all programs of an image together. The agent is process 1: without them, processes that start each
// other without end leave it no turn, not even to end them. RLIMIT_NPROC does not bind root.
func limits() [][3]string {
	list := [][3]string{{"pids", "pids.max", "256"}, {"cpu", "cpu.weight", "1"}}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		half := uint64(info.Totalram) * uint64(info.Unit) / 2 //nolint:unconvert // narrower on some machines
		list = append(list, [3]string{"memory", "memory.max", strconv.FormatUint(half, 10)})
	}
	return list
}

// group is a cgroup of version 2 in a mount where no path leads to.
type group struct {
	above, own *os.File
	name       string
}

// newGroup makes a group with the limits. With an error there may be a group, without those limits that it names.
func newGroup() (*group, error) {
	root, err := newMount("cgroup2", "none", quiet)
	if err != nil {
		return nil, fmt.Errorf("mount cgroup2: %w", err)
	}
	g := &group{above: os.NewFile(uintptr(root), "cgroup2"), name: fmt.Sprintf("image-%d", unix.Gettid())}
	if err := unix.Mkdirat(root, g.name, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("make cgroup %s: %w", g.name, err), g.above.Close())
	}
	own, err := unix.Openat(root, g.name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, unix.Unlinkat(root, g.name, unix.AT_REMOVEDIR), g.above.Close())
	}
	g.own = os.NewFile(uintptr(own), g.name)
	var lacks []error
	for _, l := range limits() {
		if err := errors.Join(control(g.above, "cgroup.subtree_control", "+"+l[0]), control(g.own, l[1], l[2])); err != nil {
			lacks = append(lacks, fmt.Errorf("%s %s: %w", l[1], l[2], err))
		}
	}
	return g, errors.Join(lacks...)
}

// control writes a value into a file of a cgroup.
func control(folder *os.File, name, value string) error {
	fd, err := unix.Openat(int(folder.Fd()), name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(value))
	return errors.Join(err, unix.Close(fd))
}

// end kills the remaining processes of the group, and removes it.
func (g *group) end() error {
	if g == nil {
		return nil
	}
	err := control(g.own, "cgroup.kill", "1") // Linux 5.14
	removed := unix.Unlinkat(int(g.above.Fd()), g.name, unix.AT_REMOVEDIR)
	for wait := time.Millisecond; errors.Is(removed, unix.EBUSY) && wait < 2*time.Second; wait *= 2 {
		time.Sleep(wait) // until the killed are gone
		removed = unix.Unlinkat(int(g.above.Fd()), g.name, unix.AT_REMOVEDIR)
	}
	return errors.Join(err, removed, g.own.Close(), g.above.Close())
}
