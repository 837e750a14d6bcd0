package netswitch

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Unix(1_000_000, 0)

// host is the address of a machine.
func host(n byte) mac { return mac{0x52, 0x54, 0, 0, 0, n} }

// data is a frame of IPv4, untagged where vlan is 0.
func data(to, from mac, vlan int) []byte {
	b := append(append(append([]byte{}, to[:]...), from[:]...), 0x08, 0x00, 'd', 'a', 't', 'a')
	if vlan != 0 {
		return tagged(b, vlan)
	}
	return b
}

// sw is a switch with a link on all ports since start.
func sw(t *testing.T, ports ...Port) *Switch {
	t.Helper()
	s, err := New(ports)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ports {
		s.Link(start, i, true)
	}
	return s
}

// TestVLANs: the ports that get a broadcast, and its tag there.
func TestVLANs(t *testing.T) {
	all := mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	s := sw(t, Port{Name: "a", Access: 5}, Port{Name: "b", Access: 5}, Port{Name: "c", Access: 6},
		Port{Name: "trunk", Tagged: []int{5, 6}}, Port{Name: "native", Access: 5, Tagged: []int{6}})
	for name, tc := range map[string]struct {
		from int
		tag  int
		want []string
	}{
		"untagged into an access port": {0, 0, []string{"b", "trunk 5", "native"}},
		"tagged into an access port":   {0, 5, nil},
		"tagged into a trunk":          {3, 6, []string{"c", "native 6"}},
		"a VLAN the trunk has not":     {3, 7, nil},
		"untagged into a trunk":        {3, 0, nil},
		"untagged into a mixed port":   {4, 0, []string{"a", "b", "trunk 5"}},
		"tagged into a mixed port":     {4, 6, []string{"c", "trunk 6"}},
	} {
		var got []string
		for _, o := range s.Receive(start, tc.from, data(all, host(1), tc.tag)) {
			name := s.ports[o.Port].Name
			for _, v := range []int{5, 6} {
				if bytes.Equal(o.Frame, data(all, host(1), v)) {
					name += map[int]string{5: " 5", 6: " 6"}[v]
				}
			}
			if !strings.Contains(name, " ") && !bytes.Equal(o.Frame, data(all, host(1), 0)) {
				name += " spoiled"
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func sentTo(all []Sending) []int {
	var ports []int
	for _, o := range all {
		ports = append(ports, o.Port)
	}
	return ports
}

// TestLearns: an address is known in the VLAN it was seen in, for five minutes.
func TestLearns(t *testing.T) {
	s := sw(t, Port{Access: 5}, Port{Access: 5}, Port{Access: 5, Tagged: []int{6}}, Port{Tagged: []int{5, 6}})
	s.Receive(start, 1, data(host(9), host(1), 0))
	for name, tc := range map[string]struct {
		after time.Duration
		from  int
		tag   int
		want  []int
	}{
		"known":            {time.Minute, 0, 0, []int{1}},
		"to its own port":  {time.Minute, 1, 0, nil},
		"in another VLAN":  {time.Minute, 3, 6, []int{2}},
		"too long ago":     {6 * time.Minute, 0, 0, []int{1, 2, 3}},
		"tagged elsewhere": {time.Minute, 3, 5, []int{1}},
	} {
		got := sentTo(s.Receive(start.Add(tc.after), tc.from, data(host(1), host(2), tc.tag)))
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: to %v, want %v", name, got, tc.want)
		}
	}
}

// TestTableIsBounded: a guest that sends from ever new addresses fills no memory.
func TestTableIsBounded(t *testing.T) {
	s := sw(t, Port{Access: 5}, Port{Access: 5})
	for i := range 3 * maxLearned {
		s.Receive(start, 0, data(host(1), mac{2, 0, 0, byte(i >> 16), byte(i >> 8), byte(i)}, 0))
	}
	if len(s.learned) != maxLearned {
		t.Errorf("%d addresses", len(s.learned))
	}
	s.Receive(start.Add(time.Hour), 0, data(host(1), host(7), 0))
	if len(s.learned) != 1 {
		t.Errorf("%d addresses after an hour", len(s.learned))
	}
}

// TestForwardsLate: as with spanning tree, a port forwards nothing for a while, and again
// after its link was gone.
func TestForwardsLate(t *testing.T) {
	s := sw(t, Port{Access: 5, Delay: 30 * time.Second}, Port{Access: 5})
	for _, tc := range []struct {
		at   time.Duration
		link string
		want int
	}{{29 * time.Second, "", 0}, {30 * time.Second, "", 1}, {60 * time.Second, "down", 0}, {61 * time.Second, "up", 0},
		{90 * time.Second, "", 0}, {91 * time.Second, "", 1}} {
		now := start.Add(tc.at)
		if tc.link != "" {
			s.Link(now, 0, tc.link == "up")
		}
		in, out := s.Receive(now, 0, data(host(1), host(2), 0)), s.Receive(now, 1, data(host(2), host(1), 0))
		if len(in) != tc.want || len(out) != tc.want {
			t.Errorf("after %v: %d in and %d out, want %d", tc.at, len(in), len(out), tc.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, ports := range map[string][]Port{
		"VLAN 4095":                      {{Name: "a", Access: 4095}},
		"VLAN 0":                         {{Name: "a", Tagged: []int{0}}},
		"both tagged and untagged":       {{Name: "a", Access: 5, Tagged: []int{5}}},
		"has other VLANs than a":         {{Name: "a", Access: 5, Group: 1}, {Name: "b", Access: 6, Group: 1}},
		"port b: has other VLANs than a": {{Name: "a", Group: 1}, {Name: "b", Tagged: []int{6}, Group: 1}},
	} {
		if _, err := New(ports); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// cable joins port i of two switches, and moves their frames until both are silent.
type cable struct{ a, b *Switch }

func (c cable) settle(t *testing.T, now time.Time, out, back []Sending) {
	t.Helper()
	for range 20 {
		if len(out)+len(back) == 0 {
			return
		}
		var nextOut, nextBack []Sending
		for _, f := range out {
			nextBack = append(nextBack, c.b.Receive(now, f.Port, f.Frame)...)
		}
		for _, f := range back {
			nextOut = append(nextOut, c.a.Receive(now, f.Port, f.Frame)...)
		}
		out, back = nextOut, nextBack
	}
	t.Fatal("the two ends talk without end")
}

// TestAggregate: two ends become one aggregate. Frames go through it in one copy, and
// through the rest of it when a link's partner falls silent.
func TestAggregate(t *testing.T) {
	ports := []Port{{Name: "p0", Tagged: []int{5}, Group: 1}, {Name: "p1", Tagged: []int{5}, Group: 1},
		{Name: "out", Access: 5}}
	c := cable{sw(t, ports...), sw(t, ports...)}
	for _, m := range c.b.members[:2] {
		m.actor.System = host(0xbb)
	}
	if got := c.a.Receive(start, 2, data(host(1), host(2), 0)); len(got) != 0 || len(c.a.Bundled(1)) != 0 {
		t.Fatalf("before LACP, frames go to %v", sentTo(got))
	}
	c.settle(t, start, c.a.Tick(start), c.b.Tick(start))
	want := []string{"p0", "p1"}
	if diff := cmp.Diff(want, c.a.Bundled(1)) + cmp.Diff(want, c.b.Bundled(1)); diff != "" {
		t.Fatal(diff)
	}
	used := map[int]bool{}
	for n := range byte(32) {
		got := c.a.Receive(start, 2, data(host(100), host(n), 0))
		if len(got) != 1 || got[0].Port == 2 {
			t.Fatalf("one frame goes to %v", sentTo(got))
		}
		used[got[0].Port] = true
	}
	if len(used) != 2 {
		t.Errorf("conversations use the ports %v", used)
	}
	if got := c.a.Receive(start, 0, data(host(200), host(100), 5)); !slices.Equal(sentTo(got), []int{2}) {
		t.Errorf("a frame from the aggregate goes to %v", sentTo(got))
	}
	for s := range 5 { // p1's partner is silent
		now := start.Add(time.Duration(s+1) * time.Second)
		out, back := c.a.Tick(now), c.b.Tick(now)
		only := func(f Sending) bool { return f.Port != 0 }
		c.settle(t, now, slices.DeleteFunc(out, only), slices.DeleteFunc(back, only))
	}
	if diff := cmp.Diff([]string{"p0"}, c.a.Bundled(1)); diff != "" {
		t.Error(diff)
	}
	// Addresses learned from p1 are reached through p0.
	if got := c.a.Receive(start.Add(5*time.Second), 2, data(host(100), host(1), 0)); !slices.Equal(sentTo(got), []int{0}) {
		t.Errorf("after the loss of p1, frames go to %v", sentTo(got))
	}
}

// TestTwoPartners: a cable in the wrong machine joins no aggregate.
func TestTwoPartners(t *testing.T) {
	ports := []Port{{Name: "p0", Access: 5, Group: 1}, {Name: "p1", Access: 5, Group: 1}}
	c := cable{sw(t, ports...), sw(t, ports...)}
	c.b.members[0].actor.System, c.b.members[1].actor.System = host(0xbb), host(0xcc)
	c.settle(t, start, c.a.Tick(start), c.b.Tick(start))
	if got := c.a.Bundled(1); len(got) != 1 {
		t.Errorf("carry frames: %v", got)
	}
}

// recorded is a LACPDU that Linux 6.1 sends (drivers/net/bonding), without its padding:
// active, slow, alone, with no partner.
const recorded = "0180c2000002" + "525400000001" + "8809" + "0101" +
	"0114" + "ffff525400000001000900ff00014d000000" + "0214" + "ffff000000000000000100ff000101000000" + "0310"

func TestPDU(t *testing.T) {
	b, err := hex.DecodeString(recorded)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, make([]byte, headerLen+pduLen-len(b))...)
	want := PDU{
		Actor: End{SystemPriority: 0xffff, System: host(1), Key: 9, PortPriority: 255, Port: 1,
			State: Active | Aggregation | Synchronization | Defaulted},
		Partner: End{SystemPriority: 0xffff, Key: 1, PortPriority: 255, Port: 1, State: Active},
	}
	got, err := ParsePDU(b[headerLen:])
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if again := want.Frame(host(1)); !bytes.Equal(again, b) {
		t.Errorf("frame\n%x, want\n%x", again, b)
	}
	if _, err := ParsePDU([]byte{2, 1}); !errors.Is(err, errNotLACP) {
		t.Errorf("a marker: %v", err)
	}
}

func FuzzParsePDU(f *testing.F) {
	f.Add(PDU{Actor: End{Key: 1}}.Frame(host(1))[headerLen:])
	f.Add([]byte{1, 1, 1, 20})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePDU(b)
		if err != nil {
			return
		}
		if again, err := ParsePDU(p.Frame(host(1))[headerLen:]); err != nil || again != p {
			t.Errorf("%+v comes back as %+v, %v", p, again, err)
		}
	})
}

// FuzzReceive: no frame comes back to its port, and none leaves its VLAN.
func FuzzReceive(f *testing.F) {
	f.Add(uint8(0), data(host(1), host(2), 0))
	f.Add(uint8(1), data(host(1), host(2), 6))
	f.Add(uint8(2), PDU{Actor: End{State: Aggregation | Synchronization}}.Frame(host(1)))
	f.Add(uint8(2), tagged(PDU{}.Frame(host(1)), 6))
	f.Fuzz(func(t *testing.T, port uint8, b []byte) {
		s := sw(t, Port{Access: 5}, Port{Tagged: []int{6}}, Port{Access: 5, Group: 1}, Port{Access: 6}, Port{Access: 5})
		before := slices.Clone(b)
		in := int(port) % len(s.ports)
		f, _ := parse(b)
		for _, o := range s.Receive(start, in, b) {
			out, ok := parse(o.Frame)
			if !ok || o.Port == in && in != 2 || in != 2 && !bytes.Equal(out.untagged, f.untagged) && out.tag == 0 {
				t.Errorf("%x from port %d becomes %x to port %d", b, in, o.Frame, o.Port)
			}
			if vlan := map[int]int{0: 5, 1: 6, 3: 6, 4: 5}[in]; in != 2 && s.ports[o.Port].Access != vlan && out.tag != vlan {
				t.Errorf("port %d: VLAN %d leaks to port %d", in, vlan, o.Port)
			}
		}
		if !bytes.Equal(before, b) {
			t.Error("the frame was changed")
		}
	})
}

// TestSetAccess: a port that is put into another VLAN is heard there alone, and the addresses learned at it are
// forgotten.
func TestSetAccess(t *testing.T) {
	s := sw(t, Port{Name: "a", Access: 5}, Port{Name: "five", Access: 5}, Port{Name: "six", Access: 6},
		Port{Name: "member", Group: 1}, Port{Name: "trunk", Tagged: []int{7}})
	all := mac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for _, tc := range []struct {
		vlan  int
		heard bool
		to    int // the port that a broadcast goes to, -1 for none
	}{{5, false, 1}, {6, true, 2}, {0, true, -1}, {5, false, 1}} {
		heard, err := s.SetAccess("a", tc.vlan)
		if err != nil || heard != tc.heard {
			t.Errorf("into VLAN %d: %v, %v", tc.vlan, heard, err)
		}
		sent := s.Receive(start, 0, data(all, host(1), 0))
		if tc.to < 0 && len(sent) == 0 || tc.to >= 0 && len(sent) == 1 && sent[0].Port == tc.to {
			continue
		}
		t.Errorf("in VLAN %d a broadcast goes to %v", tc.vlan, sent)
	}
	for name, vlan := range map[string]int{"b": 5, "member": 5, "a": 4095, "trunk": 7} {
		if _, err := s.SetAccess(name, vlan); err == nil {
			t.Errorf("%s into VLAN %d: no error", name, vlan)
		}
	}
}
