package watch_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/watch"
)

func mac(n uint32) net.HardwareAddr {
	return binary.BigEndian.AppendUint32([]byte{2, 0}, n)
}

func now() time.Time { return time.Date(2026, 11, 23, 23, 0, 0, 0, time.UTC) }

// files are the files that events asked for, and how often.
func files(all []pxe.Event) (names []string) {
	for _, e := range all {
		names = append(names, e.File+strings.Repeat("+", e.Times-1))
	}
	return names
}

func get(m net.HardwareAddr, known bool, file string) pxe.Event {
	return pxe.Event{Service: pxe.HTTP, Message: "GET", MAC: m, Known: known, File: file}
}

func TestOrderAndRepetition(t *testing.T) {
	l := watch.New(now, false)
	r := l.Read(0)
	defer r.Close()
	for _, e := range []pxe.Event{
		get(mac(1), true, "a"), get(mac(2), true, "b"), get(mac(1), true, "a"), get(mac(1), true, "c"),
		get(mac(1), true, "a"),
	} {
		l.Record(e)
	}
	all, lost := r.Now()
	if diff := cmp.Diff([]string{"b", "a+", "c", "a"}, files(all)); diff != "" || lost != 0 {
		t.Errorf("%d lost, %s", lost, diff)
	}
	if again, _ := r.Now(); len(again) != 0 {
		t.Errorf("read twice: %v", files(again))
	}
	l.Record(get(mac(1), true, "a"))
	if more, _ := r.Now(); len(more) != 1 || more[0].Times != 2 || more[0].ID <= all[3].ID {
		t.Errorf("a repetition is %+v", more)
	}
	later := l.Read(all[1].ID)
	defer later.Close()
	if some, _ := later.Now(); len(some) != 2 {
		t.Errorf("after the second: %v", files(some))
	}
}

// TestNoisyMachine: a machine that asks without end takes no room from others.
func TestNoisyMachine(t *testing.T) {
	l := watch.New(now, false)
	quiet := l.Read(0)
	defer quiet.Close()
	l.Record(get(mac(1), true, "first"))
	for i := range 1000 {
		l.Record(get(mac(2), true, string(rune('a'+i%20))))
	}
	all, lost := quiet.Now()
	if len(all) != 21 || all[0].File != "first" || lost != 980 {
		t.Errorf("%d events, %d lost: %v", len(all), lost, files(all))
	}
}

// TestStrangers: machines that are not enrolled take no room from others, nor do callers that name the MAC of one. A
// machine that is enrolled moves over with its events.
func TestStrangers(t *testing.T) {
	l := watch.New(now, false)
	l.Record(get(mac(1), false, "before"))
	l.Record(get(mac(1), true, "after"))
	l.Record(pxe.Event{Service: pxe.TFTP, MAC: mac(1), File: "loader"}) // TFTP does not know the machine
	for i := range uint32(5000) {
		l.Record(get(mac(1000+i), false, "x"))
		forged := get(mac(1), true, "y")
		forged.Claimed, forged.IP = true, netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		l.Record(forged)
	}
	r := l.Read(0)
	defer r.Close()
	all, _ := r.Now()
	if diff := cmp.Diff([]string{"before", "after", "loader"}, files(all)[:3]); diff != "" || len(all) != 3+256 {
		t.Errorf("%d events, %s", len(all), diff)
	}
}

// TestBounded: memory stays bounded for any number of machines and any content.
func TestBounded(t *testing.T) {
	l := watch.New(now, false)
	long := strings.Repeat("x", 10_000)
	fill := func(from uint32) {
		for i := range uint32(3000) {
			for range 3 {
				for _, e := range []pxe.Event{get(mac(from+i), i%2 == 0, long), get(mac(from+i), i%2 == 0, "b")} {
					e.Detail, e.Answer, e.Message = long, long, long
					e.Server = netip.AddrFrom4([4]byte{10, 2, byte(i >> 8), byte(i)})
					l.Record(e)
				}
			}
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	fill(0)
	once := heap()
	fill(10_000)
	fill(20_000)
	if thrice := heap(); thrice > once+1<<20 || once-before > 24<<20 {
		t.Errorf("%d bytes before, %d after 3000 machines, %d after 9000", before, once, thrice)
	}
	r := l.Read(0)
	defer r.Close()
	all, _ := r.Now()
	if want := 1024*6 + 256*6; len(all) != want || len(l.Servers()) != 16 {
		t.Errorf("%d events, want %d; %d servers", len(all), want, len(l.Servers()))
	}
}

// TestPlain: texts of machines are harmless on a terminal.
func TestPlain(t *testing.T) {
	l := watch.New(now, false)
	l.Record(get(mac(1), true, "a\x1b[2J\n\u202eé"))
	r := l.Read(0)
	defer r.Close()
	if all, _ := r.Now(); all[0].File != "a?[2J???" {
		t.Errorf("%q", all[0].File)
	}
}

// TestWait: readers wake at an event, and at their end.
func TestWait(t *testing.T) {
	l := watch.New(now, false)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r := l.Read(0)
			defer r.Close()
			if err := r.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	l.Record(get(mac(1), true, "a"))
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := l.Read(0)
	defer r.Close()
	_, _ = r.Now()
	if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestServers: other DHCP servers are kept as facts, by how they were heard.
func TestServers(t *testing.T) {
	at := now()
	l := watch.New(func() time.Time { at = at.Add(time.Second); return at }, true)
	two, three := netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("10.77.0.3")
	l.Record(pxe.Event{Service: pxe.DHCP, Message: "REQUEST", MAC: mac(1), Server: two})
	l.Record(pxe.Event{Service: pxe.Neighbour, Message: "OFFER", MAC: mac(1), Server: three, File: "pxe.0"})
	l.Record(pxe.Event{Service: pxe.Neighbour, Message: "OFFER", MAC: mac(2), Server: two, IP: two.Next()})
	first := now().Add(2 * time.Second) // the log itself has asked once
	want := []watch.Server{
		{Address: two, First: first, Last: first.Add(2 * time.Second), Times: 2, Lends: true, Expected: true},
		{Address: three, First: first.Add(time.Second), Last: first.Add(time.Second), Times: 1, BootFile: "pxe.0",
			Expected: true},
	}
	if diff := cmp.Diff(want, l.Servers(), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRecord is the cost of an event of a stranger, at the bound.
func BenchmarkRecord(b *testing.B) {
	l := watch.New(now, false)
	b.ReportAllocs()
	n := uint32(0)
	for b.Loop() {
		n++
		l.Record(get(mac(n), false, "kernel"))
	}
}
