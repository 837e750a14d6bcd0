//go:build e2e

package scale

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// room is the network namespace of machines that boot: a link with all their addresses.
type room struct{ file *os.File }

// newRoom makes a namespace that has the machines' end of the link.
func newRoom(t *testing.T) *room {
	t.Helper()
	made := make(chan error)
	r := &room{}
	go func() {
		runtime.LockOSThread() // the thread ends with its goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			r.file, err = os.Open("/proc/thread-self/ns/net")
		}
		made <- err
	}()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.file.Close(); err != nil {
			t.Error(err)
		}
	})
	link, err := netlink.LinkByName(roomLink)
	if err == nil {
		err = netlink.LinkSetNsFd(link, int(r.file.Fd()))
	}
	if err == nil {
		err = r.do(func() error {
			out, err := exec.CommandContext(t.Context(), "ip", "link", "set", roomLink, "up").CombinedOutput()
			if err != nil {
				return fmt.Errorf("ip: %w: %s", err, out)
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// do runs f on a thread of the namespace. Its sockets belong to the namespace for good.
func (r *room) do(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with its goroutine
		if err := unix.Setns(int(r.file.Fd()), unix.CLONE_NEWNET); err != nil {
			result <- err
			return
		}
		result <- f()
	}()
	return <-result
}

// address gives the link one more address.
func (r *room) address(a netip.Addr) error {
	return r.do(func() error {
		handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer handle.Close()
		link, err := handle.LinkByName(roomLink)
		if err != nil {
			return err
		}
		return handle.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(16, 32)}})
	})
}

// dial connects from the address of a machine.
func (r *room) dial(from netip.Addr) func(ctx context.Context, network, to string) (net.Conn, error) {
	return func(ctx context.Context, network, to string) (c net.Conn, err error) {
		err = r.do(func() (err error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
			c, err = d.DialContext(ctx, network, to)
			return err
		})
		return c, err
	}
}
