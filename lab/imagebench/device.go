package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// device is a loop device, past the page cache, over a file that has all its
// blocks.
type device struct{ path string }

// newDevice makes one of size bytes, and writes it full.
func newDevice(ctx context.Context, file string, size int64) (*device, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
		return nil, fmt.Errorf("allocate %d bytes for %s: %w", size, file, err)
	}
	out, err := exec.CommandContext(ctx, "losetup", "-f", "--show", "--direct-io=on", file).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("losetup: %w: %s", err, out)
	}
	d := &device{strings.TrimSpace(string(out))}
	if _, err := measured(ctx, "", dd(d.path, size)...); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// close detaches the device.
func (d *device) close() error {
	if out, err := exec.Command("losetup", "-d", d.path).CombinedOutput(); err != nil {
		return fmt.Errorf("losetup -d %s: %w: %s", d.path, err, out)
	}
	return nil
}

// dd is the command that writes n bytes onto a device.
func dd(device string, n int64) []string {
	return []string{"dd", "if=/dev/zero", "of=" + device, "bs=4M", "oflag=direct", "status=none",
		"count=" + strconv.FormatInt((n+4<<20-1)>>22, 10)}
}

// blkio is the kernel's block controller, cgroups version 1. It throttles writes onto a device that bypass the page
// cache.
const blkio = "/sys/fs/cgroup/blkio"

// throttle is a group of processes that write onto a device at a bounded rate.
type throttle struct{ dir string }

// newThrottle makes the group.
func newThrottle(device string, rate int64) (*throttle, error) {
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		return nil, err
	}
	t := &throttle{filepath.Join(blkio, fmt.Sprintf("imagebench-%d", os.Getpid()))}
	if err := os.Mkdir(t.dir, 0o755); err != nil {
		return nil, fmt.Errorf("the device cannot be throttled without %s (cgroups version 1, blkio): %w", blkio, err)
	}
	rule := fmt.Sprintf("%d:%d %d", unix.Major(st.Rdev), unix.Minor(st.Rdev), rate)
	if err := os.WriteFile(filepath.Join(t.dir, "blkio.throttle.write_bps_device"), []byte(rule), 0o600); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// close removes the group, which the kernel allows some time after the last of
// its processes has ended.
func (t *throttle) close() error {
	var err error
	for range 50 {
		if err = os.Remove(t.dir); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}
