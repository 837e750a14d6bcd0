package tftp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pintftp "github.com/pin/tftp/v3"

	"github.com/ferrite-metal/ferrite/pxe"
)

// TestForgedRequests: unacknowledged transfers to many forged addresses keep no machine out; not to the machine's own
// address either.
func TestForgedRequests(t *testing.T) {
	r := serve(t, func(c *Config) { c.Transfers = 2 * maxEach })
	want := r.file(t, "f", 5000)
	for i := range 2*maxEach + 10 {
		from := fmt.Sprintf("127.0.76.%d", i%250+1)
		if i >= 2*maxEach {
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
	c.SetTimeout(longWait)
	wt, err := c.Receive("f", "octet")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := wt.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the machine got %d bytes, %v", got.Len(), err)
	}
}

// pace is how a transfer goes.
type pace struct {
	age   time.Duration
	acked bool
	moved int64
}

var (
	begun  = pace{time.Second, true, 0}
	silent = pace{silentTime + time.Second, false, 0}
	slow   = pace{slowTime + time.Second, true, 512} // its client repeats an acknowledgement
	quick  = pace{slowTime + time.Second, true, 1 << 20}
)

// TestRoom: which request finds a place, and which transfer has to end for it.
func TestRoom(t *testing.T) {
	type active struct {
		from  string
		known bool
		pace
	}
	halfStrangers := []active{{"10.0.0.1:1", false, begun}, {"10.0.0.2:1", false, begun}}
	for name, tc := range map[string]struct {
		active []active // four are all there may be, two of strangers
		from   string
		known  bool
		out    string // "" means that no transfer ends
		in     bool
	}{
		"there is room":                  {[]active{{"10.0.0.1:1", true, begun}}, "10.0.0.9:1", false, "", true},
		"strangers leave half":           {halfStrangers, "10.0.0.9:1", false, "", false},
		"a machine finds the other half": {halfStrangers, "10.0.0.9:1", true, "", true},
		"a silent stranger's for one": {[]active{{"10.0.0.1:1", false, begun}, {"10.0.0.2:1", false, silent}}, "10.0.0.9:1",
			false, "10.0.0.2:1", true},
		"no silent machine's for strangers": {[]active{{"10.0.0.1:1", false, begun}, {"10.0.0.2:1", false, begun},
			{"10.0.0.3:1", true, silent}}, "10.0.0.9:1", false, "", false},
		"the silent one's, who began first": {[]active{{"10.0.0.1:1", true, begun}, {"10.0.0.2:1", true, silent},
			{"10.0.0.3:1", true, silent}, {"10.0.0.4:1", true, begun}}, "10.0.0.9:1", true, "10.0.0.2:1", true},
		"a slow stranger's, whatever it acknowledges": {[]active{{"10.0.0.1:1", false, slow}, {"10.0.0.2:1", false, quick}},
			"10.0.0.9:1", false, "10.0.0.1:1", true},
		"nobody's who has been heard": {[]active{{"10.0.0.1:1", false, begun}, {"10.0.0.2:1", false, begun},
			{"10.0.0.3:1", true, begun}, {"10.0.0.4:1", true, begun}}, "10.0.0.9:1", true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{conf: Config{Transfers: 4}, places: newPlaces()}
			var ended string
			for i, a := range tc.active {
				at := netip.MustParseAddrPort(a.from)
				s.active[at] = &place{began: time.Now().Add(time.Duration(i)*time.Millisecond - a.age), known: a.known,
					cancel: func(error) { ended = a.from }}
				s.active[at].acked.Store(a.acked)
				s.active[at].moved.Store(a.moved)
				s.each[at.Addr()]++
				if !a.known {
					s.strangers++
				}
			}
			_, p := s.take(t.Context(), netip.MustParseAddrPort(tc.from), "", tc.known)
			if (p != nil) != tc.in || ended != tc.out {
				t.Errorf("place: %t, ended %q, want %t, %q", p != nil, ended, tc.in, tc.out)
			}
		})
	}
}

// TestNobodyOvertakes: a client with a place that asks again waits behind all others, so that no client holds a place
// by asking in turn. Waiting strangers do not delay a machine.
func TestNobodyOvertakes(t *testing.T) {
	machine := netip.MustParseAddrPort("10.0.0.9:1")
	s := &Server{places: newPlaces(), conf: Config{Transfers: 4, Recorder: pxe.NoRecorder{},
		Client: func(a netip.Addr) (pxe.Client, bool) { return pxe.Client{}, a == machine.Addr() }}}
	ask := func(from netip.AddrPort, text string) *place {
		_, p := s.begin(t.Context(), from, text, request{})
		return p
	}
	var ports []netip.AddrPort // the first two have the half of strangers
	for i := range uint16(4) {
		ports = append(ports, netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), 1+i))
		if has := ask(ports[i], "one") != nil; has != (i < 2) {
			t.Errorf("port %d has a place: %t", i, has)
		}
	}
	for turn := range 8 {
		port, text := ports[turn%2], fmt.Sprint("turn ", turn)
		if had := s.active[port]; had != nil {
			had.acked.Store(true)
		}
		if ask(port, text) != nil {
			t.Errorf("turn %d: a port keeps its place by another request", turn)
		}
	}
	if ask(machine, "one") == nil {
		t.Error("a machine waits for strangers")
	}
	for i, want := range []netip.AddrPort{ports[2], ports[3]} {
		if _, p, w := s.next(t.Context()); p == nil || w.peer != want {
			t.Errorf("the %d. of those who wait has no place", i+1)
		}
	}
}

// TestRoomful: two hundred machines that fetch a loader at once, and a rack behind one address
// that has places for fewer, all get it; none is turned away, and no more are under way than may be.
func TestRoomful(t *testing.T) {
	for name, tc := range map[string]struct {
		machines, transfers int
		from                func(i int) net.IP
	}{
		"each at its own address": {200, 50, func(i int) net.IP { return net.IPv4(127, 0, 78, byte(i+1)) }},
		"behind one address":      {maxEach + 20, 500, func(int) net.IP { return net.IPv4(127, 0, 78, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, func(c *Config) { c.Transfers = tc.transfers })
			want := r.file(t, "f", 256<<10)
			var wg sync.WaitGroup
			var got, most atomic.Int64
			for i := range tc.machines {
				wg.Go(func() {
					if bytes.Equal(fetchFrom(t, tc.from(i), r.Addr()), want) {
						got.Add(1)
					}
					r.mu.Lock()
					defer r.mu.Unlock()
					most.Store(max(most.Load(), int64(len(r.active))))
				})
			}
			wg.Wait()
			if int(got.Load()) != tc.machines || int(most.Load()) > min(tc.transfers, tc.machines) {
				t.Errorf("%d of %d have the file, up to %d at a time", got.Load(), tc.machines, most.Load())
			}
		})
	}
}

// fetchFrom gets file f as firmware does: it asks again, from the same port, until it is answered.
func fetchFrom(t *testing.T, from net.IP, at netip.AddrPort) (got []byte) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: from})
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Close()
	last := rrq("f", "octet", "tsize", "0", "blksize", "1468", "windowsize", "8")
	to, buf, block, heard := at, make([]byte, 1600), uint16(0), time.Now()
	send := func(b []byte) { last = b; _, _ = c.WriteToUDPAddrPort(b, to) }
	send(last)
	for in := 0; ; {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		n, peer, err := c.ReadFromUDPAddrPort(buf)
		switch {
		case err != nil && time.Since(heard) > longWait:
			return nil
		case err != nil:
			send(last)
			in = 0
			continue
		case buf[1] == opError:
			t.Errorf("%q", buf[4:n])
			return nil
		}
		to, heard = peer, time.Now()
		if buf[1] == opData && binary.BigEndian.Uint16(buf[2:]) == block+1 {
			block++
			in++
			got = append(got, buf[4:n]...)
		}
		if buf[1] == opOACK || in == 8 || n < 4+1468 {
			in = 0
			send(binary.BigEndian.AppendUint16([]byte{0, opAck}, block))
		}
		if buf[1] == opData && n < 4+1468 {
			return got
		}
	}
}
