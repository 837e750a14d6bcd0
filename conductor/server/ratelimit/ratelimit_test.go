package ratelimit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
)

func TestLimiter(t *testing.T) {
	now := time.Unix(0, 0)
	l := ratelimit.New[string](1, 3, func() time.Time { return now })
	var got []bool
	for range 5 {
		got = append(got, l.Allowed("a", 1))
		l.Count("a", 1)
	}
	got = append(got, l.Allowed("b", 1))
	now = now.Add(2 * time.Second)
	got = append(got, l.Allowed("a", 2), l.Allowed("a", 3))
	if diff := cmp.Diff([]bool{true, true, true, false, false, true, true, false}, got); diff != "" {
		t.Errorf("allowed (-want +got):\n%s", diff)
	}
}

// TestBounded: a flood from forged addresses costs bounded memory.
func TestBounded(t *testing.T) {
	l := ratelimit.New[netip.Addr](1, 3, time.Now)
	for i := range 30_000 {
		l.Count(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
	}
	if n := l.Callers(); n == 0 || n > 10_000 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestTake: a place is taken before the work, and given back when it succeeds.
func TestTake(t *testing.T) {
	now := time.Unix(0, 0)
	l := ratelimit.New[string](1, 3, func() time.Time { return now })
	var got []bool
	for range 4 {
		got = append(got, l.Take("a", 1))
	}
	l.Return("a", 1)
	got = append(got, l.Take("a", 1), l.Take("a", 1))
	now = now.Add(2 * time.Second)
	got = append(got, l.Take("a", 2), l.Take("a", 1))
	l.Return("b", 1) // had taken nothing
	for range 4 {
		got = append(got, l.Take("b", 1))
	}
	want := []bool{true, true, true, false, true, false, true, false, true, true, true, false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// TestAllOfTheBurst: slow rates lose nothing to rounding.
func TestAllOfTheBurst(t *testing.T) {
	now := time.Unix(1_700_000_000, 123)
	for _, rate := range []float64{1.0 / 60, 1.0 / 7, 3} {
		l := ratelimit.New[string](rate, 10, func() time.Time { return now })
		for i := range 10 {
			if !l.Take("a", 1) {
				t.Errorf("%v a second: %d of 10 were taken", rate, i)
				break
			}
		}
		if l.Take("a", 1) {
			t.Errorf("%v a second: 11 of 10 were taken", rate)
		}
	}
}

// TestFloodForgetsTheLeast: any number of callers that failed once does not make the limiter forget one that failed
// more often.
func TestFloodForgetsTheLeast(t *testing.T) {
	l := ratelimit.New[netip.Addr](1, 20, func() time.Time { return time.Unix(0, 0) })
	guesser := netip.MustParseAddr("192.0.2.1")
	for range 20 {
		l.Count(guesser, 1)
	}
	for i := range 30_000 {
		l.Count(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
	}
	if l.Allowed(guesser, 1) {
		t.Error("a flood of others made the limiter forget who failed 20 times")
	}
}

// TestMemoryEmpties: buckets that have run empty go before any other.
func TestMemoryEmpties(t *testing.T) {
	now := time.Unix(0, 0)
	l := ratelimit.New[int](1, 20, func() time.Time { return now })
	for i := range 100 {
		l.Count(i, 1)
	}
	now = now.Add(2 * time.Second)
	l.Count(100, 1)
	if n := l.Callers(); n != 1 {
		t.Errorf("%d callers are remembered, want the one whose bucket is not empty", n)
	}
}
