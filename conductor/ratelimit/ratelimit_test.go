package ratelimit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/ratelimit"
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
