package socket

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestQueue: the kernel keeps a burst where it allows a long queue; otherwise the error names the limit.
func TestQueue(t *testing.T) {
	c, err := UDP(t.Context(), "test", "", netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := Queue(c); err != nil && !strings.Contains(err.Error(), "net.core.rmem_max=4194304") {
		t.Error(err)
	}
	if err := shortQueue(Burst); err != nil {
		t.Error(err)
	}
	if err := shortQueue(212992); err == nil || !strings.Contains(err.Error(), "keeps 212992 bytes") {
		t.Errorf("a short queue: %v", err)
	}
}

// TestFragments: packets may be fragmented on their way, by UDP and by TCP. A path that silently carries less than a
// frame stopped loaders at their first block (ipxe/ipxe#288).
func TestFragments(t *testing.T) {
	c, err := UDP(t.Context(), "test", "", netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := TCP(t.Context(), "test", "", netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	for _, conn := range []any{c, served} {
		sys, is := conn.(syscall.Conn)
		if !is {
			t.Fatalf("a %T", conn)
		}
		raw, err := sys.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		ctlErr := raw.Control(func(fd uintptr) {
			got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER)
		})
		if err := errors.Join(ctlErr, err); err != nil || got != unix.IP_PMTUDISC_DONT {
			t.Errorf("%T: %d, %v", conn, got, err)
		}
	}
}
