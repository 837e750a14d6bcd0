package connlimit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// evictions is a pool, and the tickets that lost their places.
type evictions struct {
	*pool
	t   *testing.T
	out []string
}

func newEvictions(t *testing.T, total int) *evictions {
	return &evictions{pool: newPool(total, 64), t: t}
}

// has reports whether a newcomer from an address gets a place at once.
func (r *evictions) has(from string) (*ticket, bool) {
	r.t.Helper()
	var tk *ticket
	tk = r.enter(netip.MustParseAddr(from), func() { r.out = append(r.out, tk.host.String()) })
	return tk, r.now(tk)
}

// in lets n of an address in, which must find room.
func (r *evictions) in(n int, from string) (all []*ticket) {
	r.t.Helper()
	for range n {
		tk, ok := r.has(from)
		if !ok {
			r.t.Fatalf("%s finds no room", from)
		}
		all = append(all, tk)
	}
	return all
}

func (r *evictions) wantOut(want ...string) {
	r.t.Helper()
	if got := fmt.Sprint(r.out); got != fmt.Sprint(want) {
		r.t.Errorf("%s lost their places, want %s", got, want)
	}
	r.out = nil
}

// TestMostGiveWay: places go to clients that hold few.
func TestMostGiveWay(t *testing.T) {
	r := newEvictions(t, 16)
	r.in(1, "10.0.0.1") // the longest
	r.in(9, "10.0.0.2")
	r.in(6, "10.0.0.3")
	r.in(2, "10.0.0.4")
	r.wantOut("10.0.0.2", "10.0.0.2")
	r.in(4, "10.0.0.5")
	r.wantOut("10.0.0.2", "10.0.0.2", "10.0.0.3", "10.0.0.2")
}

// TestLongestGivesWay: of clients that hold the same number, the longest idle connection goes.
func TestLongestGivesWay(t *testing.T) {
	r := newEvictions(t, 3)
	first := r.in(1, "10.0.0.1")[0]
	r.in(1, "10.0.0.2")
	r.in(1, "10.0.0.3")
	first.begin()
	first.done()
	first.idleNow() // its wait begins anew
	r.in(1, "10.0.0.4")
	r.wantOut("10.0.0.2")
}

// TestNetworkCounts: addresses of one IPv6 /64 count together, and in it the host
// that holds most.
func TestNetworkCounts(t *testing.T) {
	r := newEvictions(t, 100)
	r.in(1, "2001:db8:0:1::1") // the longest
	for i := range 60 {
		r.in(1, fmt.Sprintf("2001:db8:bad::%x", i+1))
	}
	r.in(3, "2001:db8:bad::ffff")
	r.in(30, "10.0.0.1")
	r.in(6, "10.0.0.2") // of the places that are kept for those with few
	for i := range 3 {
		r.in(1, fmt.Sprintf("2001:db8:0:%d::1", i+2))
	}
	r.wantOut("2001:db8:bad::ffff", "2001:db8:bad::ffff", "2001:db8:bad::1")
}

// TestManyTakeNoneOfFew: a network that holds many gets nothing from a network that holds less, and few are few.
func TestManyTakeNoneOfFew(t *testing.T) {
	r := newEvictions(t, 12)
	for _, tk := range r.in(9, "2001:db8:bad::1") {
		tk.begin() // busy
	}
	r.in(3, "10.0.0.1")
	if _, ok := r.has("2001:db8:bad::2"); ok {
		t.Error("a network with nine places got a tenth of somebody who has three")
	}
	r.wantOut()
	r.in(2, "10.0.0.2")
	r.wantOut("10.0.0.1", "10.0.0.1")
}

// TestHostTakesNoneOfItsNetwork: in one IPv6 /64 a host that holds more gets nothing from a host that holds less.
func TestHostTakesNoneOfItsNetwork(t *testing.T) {
	r := newEvictions(t, 12)
	for _, tk := range r.in(9, "2001:db8:bad::1") {
		tk.begin() // busy
	}
	r.in(3, "2001:db8:bad::2")
	if _, ok := r.has("2001:db8:bad::1"); ok {
		t.Error("a host with nine places got a tenth of a neighbour who has three")
	}
	r.wantOut()
}

// TestBusyStay: only connections that wait for their peers lose their places.
func TestBusyStay(t *testing.T) {
	for name, s := range map[string]struct {
		do    func(tk *ticket)
		stays bool
	}{
		"new":                {func(*ticket) {}, false},
		"in a request":       {func(tk *ticket) { tk.begin() }, true},
		"body is late":       {func(tk *ticket) { tk.begin(); tk.read() }, false},
		"body is there":      {func(tk *ticket) { tk.begin(); tk.read()() }, true},
		"being answered":     {func(tk *ticket) { tk.begin(); tk.done() }, true},
		"never answered":     {func(tk *ticket) { tk.begin(); tk.done(); tk.handled = tk.pool.clock() - 2*lingering }, false},
		"answered":           {func(tk *ticket) { tk.begin(); tk.done(); tk.idleNow() }, false},
		"answer goes out":    {func(tk *ticket) { tk.begin(); tk.writing.Store(int64(tk.pool.clock())) }, true},
		"answer has stalled": {func(tk *ticket) { tk.begin(); tk.writing.Store(int64(tk.pool.clock() - 2*stalled)) }, false},
		"answer is slow": {
			func(tk *ticket) { tk.begin(); tk.writing.Store(int64(tk.pool.clock() - 2*stalledMany)) }, true,
		},
		"token, idle": {func(tk *ticket) { tk.begin(); tk.known = true; tk.done(); tk.idleNow() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEvictions(t, 1)
			r.began = r.began.Add(-time.Hour)
			s.do(r.in(1, "10.0.0.1")[0])
			if _, ok := r.has("10.0.0.2"); ok == s.stays {
				t.Errorf("another one gets its place: %t", ok)
			}
		})
	}
}

// TestSlowReaderOfMany: a client that holds many has less time to take an answer.
func TestSlowReaderOfMany(t *testing.T) {
	r := newEvictions(t, 12)
	r.began = r.began.Add(-time.Hour)
	for _, tk := range r.in(12, "10.0.0.1") {
		tk.begin()
		tk.writing.Store(int64(tk.pool.clock() - 2*stalledMany))
	}
	r.in(2, "10.0.0.2")
	r.wantOut("10.0.0.1", "10.0.0.1")
}

// TestKnownStay: a client that has shown a token is the last to lose its place.
func TestKnownStay(t *testing.T) {
	r := newEvictions(t, 10)
	for _, tk := range r.in(9, "10.0.0.1") {
		tk.known = true
	}
	r.in(1, "10.0.0.2")
	r.in(1, "10.0.0.3")
	r.wantOut("10.0.0.2")
}

// TestProxiesKeepTheirs: a proxy's idle connections belong to many clients, and do not go to strangers as a big
// client's would. They go when there are no others, and a proxy's newcomer counts as a client with few.
func TestProxiesKeepTheirs(t *testing.T) {
	r := newEvictions(t, 32)
	r.proxies = words{}
	r.in(20, "127.0.0.9")
	r.in(2, "10.0.0.1")
	for i := range 10 {
		r.in(1, fmt.Sprintf("10.0.1.%d", i))
	}
	r.in(3, "10.0.0.3")
	r.wantOut("10.0.0.1", "10.0.0.3", "10.0.0.3")
	r.in(1, "127.0.0.9")
	r.wantOut("10.0.0.1")
	for tk := range r.held {
		if tk.host.String() != "127.0.0.9" {
			tk.begin() // busy
		}
	}
	r.in(1, "10.0.0.4")
	r.wantOut("127.0.0.9")
}

// TestOwnGivesWay: a client that has its share gets another place of its own.
func TestOwnGivesWay(t *testing.T) {
	r := newEvictions(t, 100)
	all := r.in(64, "10.0.0.1")
	r.in(1, "10.0.0.1")
	r.wantOut("10.0.0.1")
	for _, tk := range all {
		tk.begin()
	}
	r.in(1, "10.0.0.1")
	r.wantOut("10.0.0.1")
	tk, ok := r.has("10.0.0.1")
	if !ok {
		t.Error("the last one waits, and did not give way")
	}
	tk.begin()
	if _, ok = r.has("10.0.0.1"); ok {
		t.Error("65 of one host are busy, at most 64 may be")
	}
}

// TestLoopbackHasRoom: when all are busy.
func TestLoopbackHasRoom(t *testing.T) {
	r := newEvictions(t, 64)
	for i := range 64 {
		r.in(1, fmt.Sprintf("10.0.0.%d", i+1))[0].begin()
	}
	if _, ok := r.has("10.0.1.1"); ok {
		t.Error("one more than the places got one")
	}
	r.in(2, "127.0.0.1")
	r.wantOut()
}

// TestCountsEnd: nothing is kept of clients that have left.
func TestCountsEnd(t *testing.T) {
	r := newEvictions(t, 4)
	for _, tk := range append(r.in(2, "10.0.0.1"), r.in(2, "2001:db8::1")...) {
		tk.leave()
		tk.leave()
	}
	if n := len(r.held) + len(r.hosts) + len(r.networks); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}
