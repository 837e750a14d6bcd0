// Package socket opens the boot service's sockets on one interface only (SO_BINDTODEVICE), so that nothing leaks to
// other networks. Its errors name the port, the cause and the remedy.
//
// It neither reads nor writes: that is the owner's part.
package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Burst is how much the kernel keeps for a socket of Queue until it is read: some
// thousand requests. A room that gets its power back asks all at once, and boot
// firmware gives up after some tries (PXE 2.1: four, within a minute).
const Burst = 4 << 20

// Queue has the kernel keep a burst of packets until c reads them. Beyond the
// administrator's bound that takes CAP_NET_ADMIN; without it the error says how
// much less there is, and the socket is of use nevertheless.
func Queue(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var got int
	ctlErr := raw.Control(func(fd uintptr) {
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, Burst) != nil {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, Burst) // seen below
		}
		got, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	if err := errors.Join(ctlErr, err); err != nil {
		return err
	}
	return shortQueue(got / 2) // the kernel doubles it, for its own needs
}

// shortQueue says that the kernel keeps only so many bytes, if they are too few.
func shortQueue(bytes int) error {
	if bytes >= Burst {
		return nil
	}
	return fmt.Errorf("the kernel keeps %d bytes of requests, expected %d, so that bursts of many machines get "+
		"lost: run as root or with CAP_NET_ADMIN, or raise the bound with `sysctl -w net.core.rmem_max=%d`", bytes,
		Burst, Burst)
}

// UDP opens an IPv4 UDP socket that may broadcast. With iface "" it listens on all interfaces. The service's name
// stands in errors.
func UDP(ctx context.Context, what, iface string, at netip.AddrPort) (*net.UDPConn, error) {
	return udp(ctx, what, iface, at, unix.SO_BROADCAST)
}

// SharedUDP is UDP for a port that other programs on this host may share. Each gets a copy of a broadcast, and one of
// them the packets for this host alone.
func SharedUDP(ctx context.Context, what, iface string, at netip.AddrPort) (*net.UDPConn, error) {
	return udp(ctx, what, iface, at, unix.SO_BROADCAST, unix.SO_REUSEADDR)
}

func udp(ctx context.Context, what, iface string, at netip.AddrPort, flags ...int) (*net.UDPConn, error) {
	lc := net.ListenConfig{Control: control(iface, flags...)}
	c, err := lc.ListenPacket(ctx, "udp4", at.String())
	if err != nil {
		return nil, explain(what, "UDP", iface, at, err)
	}
	udp, ok := c.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s: listening gave a %T, expected a UDP socket", what, c), c.Close())
	}
	return udp, nil
}

// TCP opens a listening TCP socket. With iface "" it is on all interfaces.
func TCP(ctx context.Context, what, iface string, at netip.AddrPort) (net.Listener, error) {
	lc := net.ListenConfig{Control: control(iface, unix.SO_REUSEADDR)}
	l, err := lc.Listen(ctx, "tcp4", at.String())
	if err != nil {
		return nil, explain(what, "TCP", iface, at, err)
	}
	return l, nil
}

// control sets flags, has packets sent without "don't fragment", and binds to the interface before the port is bound:
// only then do two services on different interfaces not collide.
func control(iface string, flags ...int) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		var err error
		ctlErr := raw.Control(func(fd uintptr) {
			for _, flag := range flags {
				if err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, flag, 1); err != nil {
					return
				}
			}
			// A path may silently carry less than a frame (ipxe/ipxe#288): routers may fragment.
			if err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT); err != nil {
				return
			}
			if iface != "" {
				err = unix.BindToDevice(int(fd), iface)
			}
		})
		return errors.Join(ctlErr, err)
	}
}

func explain(what, proto, iface string, at netip.AddrPort, err error) error {
	advice := ""
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		advice = fmt.Sprintf(": another program has the port: find it with `ss -lnp sport = :%d` and stop it, or choose "+
			"another port", at.Port())
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		advice = ": run as root, or give the program CAP_NET_BIND_SERVICE and CAP_NET_RAW"
	case errors.Is(err, unix.EADDRNOTAVAIL):
		advice = fmt.Sprintf(": this machine does not have the address %v: add it to the interface or correct the setting",
			at.Addr())
	case errors.Is(err, unix.ENODEV):
		advice = ": there is no such interface: see `ip link`"
	}
	on := ""
	if iface != "" {
		on = " on interface " + iface
	}
	return fmt.Errorf("%s: open %s port %d%s: %w%s", what, proto, at.Port(), on, err, advice)
}
