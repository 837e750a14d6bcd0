package network

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// netnsDir is where iproute2 looks for named namespaces (ip-netns(8)).
const netnsDir = "/run/netns"

// netnsPath is the file a namespace is mounted on.
func netnsPath(name string) string { return filepath.Join(netnsDir, name) }

// lockDir makes the directory of named namespaces and takes the same lock on
// it as iproute2, so that neither sees the other's half-done mounts.
func lockDir() (unlock func(), err error) {
	if err := os.MkdirAll(netnsDir, 0o755); err != nil {
		return nil, fmt.Errorf("directory of named namespaces: %w", err)
	}
	dir, err := os.Open(netnsDir)
	if err != nil {
		return nil, fmt.Errorf("directory of named namespaces: %w", err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock %s: %w", netnsDir, err)
	}
	return func() { dir.Close() }, nil // closing drops the lock
}

// shareDir makes the directory a shared mount, as `ip netns add` does: an
// unmount must reach the private mount namespaces of `ip netns exec`, else a
// shell left open there would keep the namespace alive.
func shareDir() error {
	err := unix.Mount("", netnsDir, "none", unix.MS_SHARED|unix.MS_REC, "")
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.EINVAL) { // EINVAL: not a mount point yet
		return fmt.Errorf("share %s: %w", netnsDir, err)
	}
	if err := unix.Mount(netnsDir, netnsDir, "none", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", netnsDir, err)
	}
	if err := unix.Mount("", netnsDir, "none", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("share %s: %w", netnsDir, err)
	}
	return nil
}

// enterNew moves the calling thread into a new namespace and gives that
// namespace a name. It must run on a thread of its own.
func enterNew(name string) error {
	unlock, err := lockDir()
	if err != nil {
		return err
	}
	defer unlock()
	if err := shareDir(); err != nil {
		return err
	}
	path := netnsPath(name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return fmt.Errorf("name namespace %s (a lab of this id may be up: end it first): %w", name, err)
	}
	file.Close()
	err = unix.Unshare(unix.CLONE_NEWNET)
	if err == nil {
		err = unix.Mount("/proc/thread-self/ns/net", path, "none", unix.MS_BIND, "")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("new network namespace %s (root is needed): %w", name, err), os.Remove(path))
	}
	return nil
}

// Remove takes the name off the namespace of the lab called id. The kernel
// ends the namespace, its bridge and taps with its last process and socket.
// It is no error when there is none.
func Remove(id string) error {
	plan, err := NewPlan(id)
	if err != nil {
		return err
	}
	unlock, err := lockDir()
	if err != nil {
		return err
	}
	defer unlock()
	path := netnsPath(plan.Namespace)
	err = unix.Unmount(path, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the name of a namespace: %w", err)
	}
	return unshareDir()
}

// unshareDir undoes shareDir once the last named namespace is gone, so that a
// lab leaves the mount table as it found it.
func unshareDir() error {
	left, err := os.ReadDir(netnsDir)
	if err != nil {
		return fmt.Errorf("directory of named namespaces: %w", err)
	}
	if len(left) > 0 {
		return nil
	}
	// MNT_DETACH, because our own lock holds the directory open.
	err = unix.Unmount(netnsDir, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: never was a mount
		return fmt.Errorf("unmount %s: %w", netnsDir, err)
	}
	return nil
}
