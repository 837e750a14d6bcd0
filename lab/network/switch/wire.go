package netswitch

import (
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// datagrams is the switch's end of QEMU's "-netdev dgram": a frame is a datagram.
type datagrams struct {
	*net.UnixConn
	peer *net.UnixAddr
}

// Datagrams opens the switch's end of a wire to a QEMU machine, at the path own. The machine
// has "-netdev dgram,id=...,local.type=unix,local.path=PEER,remote.type=unix,remote.path=OWN".
func Datagrams(own, peer string) (io.ReadWriteCloser, error) {
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: own, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("wire %s: %w", own, err)
	}
	return datagrams{c, &net.UnixAddr{Name: peer, Net: "unixgram"}}, nil
}

// Write sends a frame. The machine may not have opened its end yet.
func (d datagrams) Write(b []byte) (int, error) { return d.WriteToUnix(b, d.peer) }

// Tap makes a tap interface in the caller's network namespace, and returns the program's end.
// The interface is gone when that is closed.
func Tap(name string) (io.ReadWriteCloser, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("tap %s: open /dev/net/tun: %w", name, err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd) // the first error counts
		return nil, fmt.Errorf("tap %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), "tap "+name), nil //nolint:gosec // a descriptor
}
