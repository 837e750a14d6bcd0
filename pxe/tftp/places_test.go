package tftp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"

	pintftp "github.com/pin/tftp/v3"
)

// TestForgedRequests: requests in the names of many, whose transfers nobody
// acknowledges, keep no machine out; not in the machine's own name either.
func TestForgedRequests(t *testing.T) {
	r := serve(t, nil)
	want := r.file(t, "f", 5000)
	for i := range 2 * defaultTransfers {
		from := fmt.Sprintf("127.0.76.%d", i+1)
		if i >= defaultTransfers {
			from = "127.0.0.1" // the machine's
		}
		c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)}, net.UDPAddrFromAddrPort(r.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("\x00\x01f\x00octet\x00")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := pintftp.NewClient(r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetRetries(0)
	wt, err := c.Receive("f", "octet")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := wt.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the machine got %d bytes, %v", got.Len(), err)
	}
}

// TestRoom: whose transfer makes room for whose.
func TestRoom(t *testing.T) {
	type active struct {
		from         string
		known, acked bool
	}
	for name, tc := range map[string]struct {
		active []active // four are all there may be
		from   string
		known  bool
		out    string // "" means that there is no room
	}{
		"not heard of before heard of": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", true, false}, {"10.0.0.3:1", true, false},
				{"10.0.0.4:1", false, true}}, "10.0.0.9:1", false, "10.0.0.2:1",
		},
		"a stranger's for a machine's": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", false, true}, {"10.0.0.3:1", false, true},
				{"10.0.0.4:1", true, true}}, "10.0.0.9:1", true, "10.0.0.2:1",
		},
		"not heard of before a stranger's": {
			[]active{{"10.0.0.1:1", false, true}, {"10.0.0.2:1", true, true}, {"10.0.0.3:1", true, true},
				{"10.0.0.4:1", true, false}}, "10.0.0.9:1", true, "10.0.0.4:1",
		},
		"of two not heard of a stranger's": {
			[]active{{"10.0.0.1:1", true, false}, {"10.0.0.2:1", true, true}, {"10.0.0.3:1", true, true},
				{"10.0.0.4:1", false, false}}, "10.0.0.9:1", true, "10.0.0.4:1",
		},
		"a machine's for no stranger's": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", true, true}, {"10.0.0.2:2", true, true},
				{"10.0.0.2:3", true, true}}, "10.0.0.9:1", false, "",
		},
		"of the one that has most": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", true, true}, {"10.0.0.2:2", true, true},
				{"10.0.0.2:3", true, true}}, "10.0.0.9:1", true, "10.0.0.2:1",
		},
		"none of one that has as many": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", true, true}, {"10.0.0.3:1", true, true},
				{"10.0.0.4:1", true, true}}, "10.0.0.9:1", true, "",
		},
		"one each, and the new one's more": {
			[]active{{"10.0.0.1:1", true, true}, {"10.0.0.2:1", true, true}, {"10.0.0.3:1", true, true},
				{"10.0.0.9:1", true, true}}, "10.0.0.9:2", true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{conf: Config{Transfers: 4}, active: map[netip.AddrPort]*place{}}
			var ended string
			for i, a := range tc.active {
				p := &place{turn: uint64(i), known: a.known, cancel: context.CancelFunc(func() { ended = a.from })}
				p.acked.Store(a.acked)
				s.active[netip.MustParseAddrPort(a.from)] = p
			}
			got := s.room(netip.MustParseAddrPort(tc.from), tc.known)
			if got != (tc.out != "") || ended != tc.out {
				t.Errorf("room: %t, ended %q, want %q", got, ended, tc.out)
			}
		})
	}
}
