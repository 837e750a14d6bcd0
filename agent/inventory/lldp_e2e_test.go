//go:build e2e

package inventory

import (
	"context"
	"io"
	"log/slog"
	"net"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/packet"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// sendingListener sends the switch's frames as soon as a reader listens to an interface.
type sendingListener struct {
	t    *testing.T
	says map[string][]string
}

func (l sendingListener) Frames(name string, etherType uint16, groups []net.HardwareAddr) (io.ReadCloser, error) {
	in, err := sys.Linux{}.Frames(name, etherType, groups)
	if err != nil {
		return nil, err
	}
	port, err := net.InterfaceByName("switch-" + name)
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := packet.Listen(port, packet.Raw, lldp.EtherType, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer out.Close()
	for _, frame := range l.says[name] {
		if _, err := out.WriteTo([]byte(frame), &packet.Addr{HardwareAddr: net.HardwareAddr(frame[:6])}); err != nil {
			l.t.Fatal(err)
		}
	}
	return in, nil
}

// TestE2EListenLLDPOnWires listens on real interfaces, in a network namespace of its
// own, to a switch that uses each of the three groups.
func TestE2EListenLLDPOnWires(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, and its namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	says := map[string][]string{}
	var names []string
	for i, group := range lldp.Groups() {
		name := "nic" + string(rune('0'+i))
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "switch-" + name}
		if err := netlink.LinkAdd(veth); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{name, veth.PeerName} {
			l, err := netlink.LinkByName(end)
			if err != nil {
				t.Fatal(err)
			}
			if err := netlink.LinkSetUp(l); err != nil {
				t.Fatal(err)
			}
		}
		arp := string(group) + lldpdu[6:12] + "\x08\x06" + lldpdu[14:]
		cut := string(group) + lldpdu[6:30]
		says[name] = []string{arp, cut, string(group) + lldpdu[6:]}
		names = append(names, name)
	}
	got := ListenLLDP(context.Background(), sendingListener{t, says}, names, slog.New(slog.DiscardHandler))
	found := [][]any{{1, "04020000000001"}, {2, "056531"}, {3, "0078"}, {0, ""}}
	if diff := cmp.Diff(map[string][][]any{"nic0": found, "nic1": found, "nic2": found}, got); diff != "" {
		t.Error(diff)
	}
}
