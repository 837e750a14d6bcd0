package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// kmsgLevel is KERN_DEBUG: the line is kept in the kernel's log and not
// printed to the console a second time.
const kmsgLevel = "<7>"

// Kmsg writes lines into the kernel's log.
type Kmsg struct {
	f   *os.File
	tag string
}

// Kmsg opens the kernel's log for lines that start with tag. The kernel by
// default drops more than a few lines a second from programs; that is
// switched off where it can be.
func (Linux) Kmsg(tag string) (*Kmsg, error) {
	f, err := os.OpenFile("/dev/kmsg", os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	// Locked by printk.devkmsg= on the kernel line: then it stays as asked.
	_ = os.WriteFile("/proc/sys/kernel/printk_devkmsg", []byte("on\n"), 0)
	return &Kmsg{f: f, tag: tag}, nil
}

// Write puts each line of p into the log as a record of its own.
func (k *Kmsg) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if _, err := fmt.Fprintf(k.f, "%s%s: %s", kmsgLevel, k.tag, line); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// FollowKernelLog gives every record of the kernel's log, from the oldest
// there is, until ctx ends, and calls caughtUp when it has given all there
// were. Records that were overwritten before they could be read are missing.
func (Linux) FollowKernelLog(ctx context.Context, record func([]byte), caughtUp func()) error {
	// Not blocking, so that waiting is done in the poller and closing ends it.
	f, err := os.OpenFile("/dev/kmsg", os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	buf := make([]byte, 8<<10)
	for {
		var n int
		var readErr error
		err := raw.Read(func(fd uintptr) bool { // false: wait for more
			n, readErr = unix.Read(int(fd), buf) // one record
			if errors.Is(readErr, unix.EAGAIN) {
				caughtUp()
			}
			return !errors.Is(readErr, unix.EAGAIN)
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		// the oldest record was overwritten; a signal came
		case errors.Is(readErr, unix.EPIPE), errors.Is(readErr, unix.EINTR):
			continue
		case err != nil || readErr != nil:
			return fmt.Errorf("read the kernel's log: %w", errors.Join(err, readErr))
		}
		record(buf[:n])
	}
}

// KernelLog is the present content of the kernel's log, as dmesg prints it raw:
// "level,sequence,microseconds,flags;text" lines.
func (Linux) KernelLog() ([]byte, error) {
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/kmsg", Err: err}
	}
	defer unix.Close(fd) //nolint:errcheck // only read from
	var out []byte
	buf := make([]byte, 8<<10)
	for len(out) < 8<<20 {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return out, nil
		case errors.Is(err, unix.EPIPE): // the oldest record was overwritten while reading
			continue
		case err != nil:
			return out, fmt.Errorf("read /dev/kmsg: %w", err)
		}
		out = append(out, buf[:n]...)
	}
	return out, nil
}
