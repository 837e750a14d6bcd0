package floating_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mdlayher/packet"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/conductor/cluster/floating"
)

// inside says that this process has a network namespace of its own: threads of one process would have different ones.
const inside = "FERRITE_TEST_FLOATING"

// pair makes two ends of a cable.
func pair(t *testing.T) {
	t.Helper()
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near"}, PeerName: "far"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"near", "far"} {
		link, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(link)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func addresses(t *testing.T) (all []string) {
	t.Helper()
	link, err := netlink.LinkByName("near")
	if err != nil {
		t.Fatal(err)
	}
	list, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		all = append(all, a.IPNet.String())
	}
	return all
}

// TestTake: the address is there and announced, and goes with its time, with its release, and not when it is fixed.
func TestTake(t *testing.T) {
	if os.Getenv(inside) == "" {
		if os.Getuid() != 0 {
			t.Skip("needs root, for a network namespace")
		}
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTake$", "-test.count=1")
		c.Env = append(os.Environ(), inside+"=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	pair(t)
	far, err := net.InterfaceByName("far")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := packet.Listen(far, packet.Raw, unix.ETH_P_ARP, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a := floating.Address{Interface: "near", Prefix: netip.MustParsePrefix("192.0.2.1/24")}
	var left atomic.Int64
	left.Store(int64(6 * time.Second))
	remaining := func() time.Duration { return time.Duration(left.Load()) }
	release, err := floating.Take(t.Context(), a, remaining, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got := addresses(t); len(got) != 1 || got[0] != "192.0.2.1/24" {
		t.Errorf("taken: %v", got)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Error(err)
	}
	frame := make([]byte, 128)
	n, _, err := conn.ReadFrom(frame)
	ip := []byte{192, 0, 2, 1}
	if err != nil || n < 42 || !bytes.Equal(frame[28:32], ip) || !bytes.Equal(frame[38:42], ip) ||
		!bytes.Equal(frame[6:12], frame[22:28]) {
		t.Errorf("announced: %x, %v", frame[:n], err)
	}
	if err := release(); err != nil || len(addresses(t)) != 0 {
		t.Errorf("released: %v, %v", addresses(t), err)
	}
	left.Store(int64(time.Second))
	release, err = floating.Take(t.Context(), a, remaining, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	left.Store(0) // as for a frozen process, which cannot renew it
	for end := time.Now().Add(20 * time.Second); len(addresses(t)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("the address outlives its time")
			break
		}
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	link, err := netlink.LinkByName("near")
	if err == nil {
		err = netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(192, 0, 2, 1), Mask: net.CIDRMask(24, 32)}})
	}
	if err != nil {
		t.Fatal(err)
	}
	release, err = floating.Take(t.Context(), a, remaining, slog.New(slog.DiscardHandler))
	if err != nil || release() != nil || len(addresses(t)) != 1 {
		t.Errorf("a fixed address: %v, %v", addresses(t), err)
	}
}
