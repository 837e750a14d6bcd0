package netcheck

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	own   = netip.MustParsePrefix("192.0.2.9/24")
	one   = netip.MustParseAddr("192.0.2.1")
	two   = netip.MustParseAddr("192.0.2.2")
	mine  = MAC{2, 0, 0, 0, 0, 9}
	other = MAC{2, 0, 0, 0, 0, 7}
)

func tagged(tag int, routers ...netip.Addr) Link {
	return Link{Name: "eth0.100", Base: "eth0", Tag: tag, Carrier: true, MAC: mine, Addresses: []netip.Prefix{own},
		Routers: routers}
}

// heard has received a frame from each of these hosts, by VLAN.
func heard(hosts map[int][]string) *Heard {
	h := NewHeard()
	for tag, list := range hosts {
		h.Frames[tag] = max(len(list), 1)
		for _, a := range list {
			if h.Owners[tag] == nil {
				h.Owners[tag] = map[netip.Addr]MAC{}
			}
			h.Owners[tag][netip.MustParseAddr(a)] = other
		}
	}
	return h
}

// TestJudge: each observation has its first failing finding; "" for none.
func TestJudge(t *testing.T) {
	announces := func(tags ...int) *Heard {
		h := heard(map[int][]string{})
		h.Announced = tags
		return h
	}
	dead := tagged(100, one)
	dead.Carrier = false
	for name, tc := range map[string]struct {
		link Link
		h    *Heard
		dns  []Answer
		api  []Answer
		want string
	}{
		"all well": {tagged(100, one), heard(map[int][]string{100: {"192.0.2.1"}}), []Answer{{Subject: "192.0.2.53"}},
			[]Answer{{Subject: "http://c", Stage: "HTTP"}}, ""},
		"no carrier": {dead, nil, nil, nil,
			"link eth0.100: no carrier; check the cable, the switch port and, of a bond, its LACP"},
		"address in use": {tagged(100, one), heard(map[int][]string{100: {"192.0.2.1", "192.0.2.9"}}), nil, nil,
			"address 192.0.2.9 on eth0.100: in use by another machine, with the MAC address 02:00:00:00:00:07; " +
				"give one of the two another address"},
		"router in another VLAN": {tagged(100, one), heard(map[int][]string{200: {"192.0.2.1"}}), nil, nil,
			"router 192.0.2.1 on eth0.100: no answer to ARP in VLAN 100, but it is heard in VLAN 200: wrong VLAN; " +
				"set vlan_id for VLAN 200, or the switch port to VLAN 100"},
		"router untagged": {tagged(100, one), heard(map[int][]string{0: {"192.0.2.1"}}), nil, nil,
			"it is heard in no VLAN (untagged): wrong VLAN"},
		"another host answers": {tagged(100, one), heard(map[int][]string{100: {"192.0.2.7"}}), nil, nil,
			"no answer to ARP, while 192.0.2.7 of the same network answers: wrong router address, or the router is down"},
		"hosts in another VLAN": {tagged(100, one), heard(map[int][]string{200: {"192.0.2.7"}, 100: {"198.51.100.4"}}), nil,
			nil, "while hosts of 192.0.2.0/24 are heard in VLAN 200: wrong VLAN"},
		"LLDP names others": {tagged(100, one), announces(0, 20, 30), nil, nil,
			"the switch announces no VLAN (untagged), VLAN 20, VLAN 30 on this port by LLDP, not VLAN 100: wrong VLAN"},
		"LLDP names the untagged one alone": {tagged(100, one), announces(0), nil, nil,
			"nothing is heard on this link at all"},
		"frames of nobody we know": {tagged(100, one), heard(map[int][]string{100: {"198.51.100.4"}}), nil, nil,
			"wrong router address or wrong VLAN; frames are heard in VLAN 100, none of 192.0.2.0/24"},
		"frames in other VLANs": {tagged(100, one), heard(map[int][]string{7: nil, 8: nil}), nil, nil,
			"nothing is heard in VLAN 100, but frames in VLAN 7, VLAN 8: wrong VLAN is likely"},
		"silence": {tagged(100, one), nil, nil, nil, "nothing is heard on this link at all"},
		"our own address is no host": {tagged(0, one), heard(map[int][]string{5: {"192.0.2.9"}}), nil, nil,
			"nothing is heard in no VLAN (untagged), but frames in VLAN 5"},
		"second router dead": {tagged(100, one, two), heard(map[int][]string{100: {"192.0.2.1"}}), nil, nil,
			"router 192.0.2.2 on eth0.100: no answer to ARP, while 192.0.2.1 of the same network answers"},
		"one name server of two": {tagged(100), nil, []Answer{{Subject: "192.0.2.53", Err: errors.New("timeout")},
			{Subject: "192.0.2.54"}}, nil, ""},
		"no name server": {tagged(100), nil, []Answer{{Subject: "192.0.2.53", Err: errors.New("timeout")}}, nil,
			"name server 192.0.2.53: no answer to a query: timeout; correct services"},
		"conductor refuses": {tagged(100), nil, nil, []Answer{{Subject: "http://c", Stage: "TCP",
			Err: errors.New("connection refused")}},
			"conductor http://c: TCP does not work: connection refused; check the route"},
		"the furthest URL counts": {tagged(100), nil, nil, []Answer{{Subject: "http://a", Stage: "TCP", Err: errors.New("x")},
			{Subject: "https://b", Stage: "TLS", Err: errors.New("unknown authority")}},
			"conductor https://b: TLS does not work: unknown authority; check the conductor's certificate"},
		"the router explains the rest": {tagged(100, one), nil, []Answer{{Subject: "192.0.2.53", Err: errors.New("timeout")}},
			[]Answer{{Subject: "http://c", Stage: "TCP", Err: errors.New("no route")}}, "router 192.0.2.1 on eth0.100"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Judge(Observation{Links: []Link{tc.link}, Heard: map[string]*Heard{"eth0": tc.h}, DNS: tc.dns,
				Conductor: tc.api})
			failed := slices.DeleteFunc(found, func(f Finding) bool { return f.OK })
			switch {
			case tc.want == "" && len(failed) > 0:
				t.Errorf("found %v, want nothing", failed)
			case tc.want != "" && (len(failed) == 0 || !strings.Contains(failed[0].String(), tc.want)):
				t.Errorf("found %v,\nwant %s", failed, tc.want)
			}
		})
	}
}

func TestNeighbours(t *testing.T) {
	got := Neighbours(netip.MustParsePrefix("192.0.2.0/30"), one)
	if want := []netip.Addr{two}; !slices.Equal(got, want) {
		t.Errorf("of a /30: %v, want %v", got, want)
	}
	if got := Neighbours(netip.MustParsePrefix("192.0.2.1/32"), one); got != nil {
		t.Errorf("of a /32: %v", got)
	}
	big := Neighbours(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParseAddr("10.9.9.9"))
	if len(big) > 70 || !slices.Contains(big, netip.MustParseAddr("10.0.0.1")) ||
		!slices.Contains(big, netip.MustParseAddr("10.9.9.10")) ||
		slices.Contains(big, netip.MustParseAddr("10.255.255.255")) {
		t.Errorf("of a /8: %d: %v", len(big), big)
	}
}

// TestHeard: tags inside and beside frames, LLDP, and an ARP request that is heard again.
func TestHeard(t *testing.T) {
	request, err := Request(other, 7, one, two)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := Request(other, 0, netip.Addr{}, two)
	if err != nil {
		t.Fatal(err)
	}
	lldp := "\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc\x02\x07\x04\x02\x00\x00\x00\x00\x01\x04\x03\x05e1" +
		"\x06\x02\x00\x78\xfe\x06\x00\x80\xc2\x01\x00\x05\xfe\x09\x00\x80\xc2\x03\x00\x0a\x02ab\xfe\x09\x00\x80\xc2\x03\x00\x05\x02cd" +
		"\x00\x00"
	h := NewHeard()
	h.Add(request, 0)
	h.Add(probe, 9)
	h.Add([]byte(lldp), 0)
	h.Add([]byte("short"), 0)
	if h.Owners[7][one] != other || len(h.Owners[9]) != 0 || h.Frames[9] != 1 || h.Frames[0] != 0 {
		t.Errorf("heard %+v", h)
	}
	if !slices.Equal(h.Announced, []int{0, 10}) {
		t.Errorf("announced %v", h.Announced)
	}
	h.Forget(7, one)
	if len(h.Owners[7]) != 0 {
		t.Error("an owner was not forgotten")
	}
	if _, err := Request(mine, 0, one, netip.MustParseAddr("::1")); err == nil {
		t.Error("ARP for an IPv6 address was made")
	}
}

func FuzzHeard(f *testing.F) {
	request, _ := Request(other, 7, one, two)
	f.Add(request, 0)
	f.Add([]byte("\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc\xfe\x06\x00\x80\xc2\x01\x00\x05\x00\x00"), 3)
	f.Fuzz(func(t *testing.T, frame []byte, tag int) {
		h := NewHeard()
		h.Add(frame, tag&tagMask)
		if len(h.Frames) > 1 || len(h.Owners) > 1 {
			t.Errorf("one frame made %+v", h)
		}
		for _, a := range h.Announced {
			if a < 0 || a > 0xffff {
				t.Errorf("announced %d", a)
			}
		}
		if all := Judge(Observation{Links: []Link{tagged(100, one)}, Heard: map[string]*Heard{"eth0": h}}); len(all) != 3 {
			t.Errorf("found %v", all)
		}
	})
}

// TestHeardIsBounded: strangers fill the memory of all VLANs together, and an answer to us is kept all the same.
func TestHeardIsBounded(t *testing.T) {
	h, kept := NewHeard(), 0
	h.Forget(4000, one)
	for tag := range 4096 {
		for n := range mostOwners / 32 {
			frame, _ := Request(other, tag, netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), two)
			h.Add(frame, 0)
		}
	}
	answer, _ := Request(other, 4000, one, two)
	h.Add(answer, 0)
	for _, owners := range h.Owners {
		kept += len(owners)
	}
	if kept != mostHeard+1 || !h.answered(4000, one) {
		t.Errorf("%d kept of 131,072; answer: %v", kept, h.answered(4000, one))
	}
}
