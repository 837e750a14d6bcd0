package sys

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Uevents is the stream of the kernel's device events.
type Uevents struct{ f *os.File }

// ueventBuffer is generous: a machine's buses announce hundreds of devices at once, and overflow is lost.
const ueventBuffer = 4 << 20

// Uevents opens the kernel's device events from now on.
func (Linux) Uevents() (*Uevents, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, fmt.Errorf("uevents: %w", err)
	}
	// Forcing the size needs privileges; the ordinary call is the fallback.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, ueventBuffer) != nil {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, ueventBuffer); err != nil {
			_ = unix.Close(fd)
			return nil, fmt.Errorf("uevents: receive buffer: %w", err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("uevents: %w", err)
	}
	return &Uevents{f: os.NewFile(uintptr(fd), "uevents")}, nil
}

// Next waits for the next event and returns its variables (ACTION, DEVPATH, SUBSYSTEM,
// MODALIAS...). Events lost to a full buffer come as an empty map: the caller then
// looks at everything again.
func (u *Uevents) Next() (map[string]string, error) {
	buf := make([]byte, 64<<10)
	n, err := u.f.Read(buf)
	if pe, ok := err.(*os.PathError); ok && pe.Err == unix.ENOBUFS { //nolint:errorlint // Read returns exactly this
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseUevent(buf[:n]), nil
}

// Close ends the stream and wakes Next.
func (u *Uevents) Close() error { return u.f.Close() }

// parseUevent reads one kernel event: "action@path" and then KEY=VALUE, all
// ended by zero bytes.
func parseUevent(b []byte) map[string]string {
	vars := map[string]string{}
	for field := range bytes.SplitSeq(b, []byte{0}) {
		if k, v, ok := bytes.Cut(field, []byte{'='}); ok {
			vars[string(k)] = string(v)
		}
	}
	return vars
}
