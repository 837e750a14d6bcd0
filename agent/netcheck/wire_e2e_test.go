//go:build e2e

package netcheck

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// TestE2EChecksOnAWire checks real interfaces, in a network namespace of its own, against
// hosts that answer ARP in VLANs of the wire.
func TestE2EChecksOnAWire(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, and its namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	// The kernel would send IPv6 frames of its own, at times the test cannot know.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "card", HardwareAddr: mine[:]}, PeerName: "port"}
	if err := netlink.LinkAdd(veth); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"card", "port"} {
		l, err := netlink.LinkByName(end)
		if err == nil {
			err = netlink.LinkSetARPOff(l) // the kernel has no part in this
		}
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	type host struct {
		tag int
		at  string
	}
	for name, tc := range map[string]struct {
		tag   int
		hosts []host
		says  []host // without being asked
		want  string
	}{
		"untagged":     {0, []host{{0, "192.0.2.1"}}, nil, ""},
		"tagged":       {100, []host{{100, "192.0.2.1"}}, nil, ""},
		"wrong router": {100, []host{{100, "192.0.2.3"}}, nil, "while 192.0.2.3 of the same network answers"},
		"wrong VLAN": {100, []host{{200, "192.0.2.1"}}, []host{{200, "198.51.100.7"}},
			"it is heard in VLAN 200: wrong VLAN"},
		"untagged it is": {100, []host{{0, "192.0.2.1"}}, nil, "it is heard in no VLAN (untagged): wrong VLAN"},
		"tagged it is":   {0, []host{{7, "192.0.2.1"}}, []host{{7, "192.0.2.8"}}, "it is heard in VLAN 7: wrong VLAN"},
		"address in use": {100, []host{{100, "192.0.2.1"}, {100, "192.0.2.9"}}, nil, "in use by another machine"},
		"nobody":         {100, nil, nil, "nothing is heard on this link at all"},
	} {
		// No subtests: each would have a goroutine, and a namespace, of its own.
		o := oneRound(t, tagged(tc.tag, one), func(far *packetWire) {
			for _, h := range tc.says {
				claim(t, far, h.tag, h.at)
			}
			for _, h := range tc.hosts {
				if far.Heard().Frames[h.tag] > 0 { // a host asks in that VLAN
					claim(t, far, h.tag, h.at)
				}
			}
		})
		failed := slices.DeleteFunc(Judge(o), func(f Finding) bool { return f.OK })
		switch {
		case tc.want == "" && len(failed) > 0:
			t.Errorf("%s: found %v", name, failed)
		case tc.want != "" && (len(failed) == 0 || !strings.Contains(failed[0].String(), tc.want)):
			t.Errorf("%s: found %v, want %s", name, failed, tc.want)
		}
	}
}

// oneRound checks a link while answer is called again and again at the wire's other end.
func oneRound(t *testing.T, l Link, answer func(far *packetWire)) Observation {
	t.Helper()
	far, err := OpenWire("port")
	if err != nil {
		t.Fatal(err)
	}
	l.Base = "card"
	c := Checker{Links: func() ([]Link, error) { return []Link{l}, nil }, Open: OpenWire, wires: map[string]Wire{},
		Conductor: func(context.Context) []Answer { return nil }, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				answer(far.(*packetWire))
			}
		}
	})
	o, err := c.round(t.Context(), true)
	close(done)
	wg.Wait()
	c.closeWires()
	far.Close()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// claim says that an address is at the other end.
func claim(t *testing.T, far *packetWire, tag int, at string) {
	a := netip.MustParseAddr(at)
	frame, err := Request(other, tag, a, a)
	if err == nil {
		err = far.Send(frame)
	}
	if err != nil {
		t.Error(err)
	}
}
