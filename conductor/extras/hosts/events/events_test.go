package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// clock is a log with the test's time.
type clock struct {
	*Log
	now time.Time
}

func newClock() *clock {
	c := &clock{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	c.Log = New(func() time.Time { return c.now })
	return c
}

// record adds an event of a host, a second after the last.
func (c *clock) record(host, reason string) {
	c.now = c.now.Add(time.Second)
	c.Add(&hostapi.Host{TypeMeta: hostapi.TypeMeta{Kind: hostapi.KindHost},
		ObjectMeta: hostapi.ObjectMeta{Name: host, Namespace: "default", UID: host + "-uid"}},
		[]hostapi.Event{{Type: hostapi.EventNormal, Reason: reason, Message: "so it is"}})
}

func (c *clock) all() []hostapi.Event {
	all, _ := c.List()
	return all
}

func (c *clock) listed() (all []string) {
	for _, e := range c.all() {
		all = append(all,
			fmt.Sprintf("%s %s %d, %s", e.InvolvedObject.Name, e.Reason, e.Count, e.LastTimestamp.Sub(e.FirstTimestamp.Time)))
	}
	return all
}

func TestCounted(t *testing.T) {
	c := newClock()
	for _, e := range [][2]string{{"a", "PowerOn"}, {"b", "PowerOn"}, {"a", "PowerOff"}, {"a", "PowerOn"}} {
		c.record(e[0], e[1])
	}
	if diff := cmp.Diff([]string{"b PowerOn 1, 0s", "a PowerOff 1, 0s", "a PowerOn 2, 3s"}, c.listed()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	names := map[string]bool{}
	for _, e := range c.all() {
		names[e.Name], names[e.UID] = true, true
	}
	if len(names) != 6 {
		t.Errorf("names and UIDs of three events: %v", names)
	}
}

func TestForgotten(t *testing.T) {
	c := newClock()
	c.record("a", "PowerOn")
	c.now = c.now.Add(maxAge - time.Second)
	c.record("b", "PowerOn")
	if got := c.listed(); len(got) != 2 {
		t.Errorf("after an hour there are %v", got)
	}
	c.now = c.now.Add(time.Second)
	if diff := cmp.Diff([]string{"b PowerOn 1, 0s"}, c.listed()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// One host that goes on and on takes nothing away from the others, and all of
// them together fill no memory.
func TestBounded(t *testing.T) {
	c := newClock()
	c.record("quiet", "PowerOn")
	for i := range maxEach + 5 {
		c.record("loud", fmt.Sprint(i))
	}
	if got := c.listed(); len(got) != maxEach+1 || got[0] != "quiet PowerOn 1, 0s" || got[1] != "loud 5 1, 0s" {
		t.Errorf("%d events, the first %v", len(got), got[:2])
	}
	c = newClock()
	many := make([]hostapi.Event, 10)
	for i := range many {
		many[i] = hostapi.Event{Reason: fmt.Sprint(i)}
	}
	for i := range maxAll/len(many) + 1 {
		c.Add(&hostapi.Host{ObjectMeta: hostapi.ObjectMeta{UID: fmt.Sprint(i)}}, many)
	}
	if got := c.all(); len(got) != maxAll || got[0].InvolvedObject.UID != "1" {
		t.Errorf("%d events, the first of %q", len(got), got[0].InvolvedObject.UID)
	}
}

// A message may quote a document, and is kept for an hour.
func TestLongMessages(t *testing.T) {
	for _, tc := range []struct{ message, want string }{
		{strings.Repeat("x", maxMessage), strings.Repeat("x", maxMessage)},
		{strings.Repeat("x", 3<<20), strings.Repeat("x", maxMessage-3) + "..."},
		{strings.Repeat("ü", maxMessage), strings.Repeat("ü", maxMessage/2-2) + "..."},
	} {
		c := newClock()
		for range 2 {
			c.Add(&hostapi.Host{}, []hostapi.Event{{Message: tc.message}})
		}
		if got := c.all(); len(got) != 1 || got[0].Count != 2 || got[0].Message != tc.want {
			t.Errorf("%d events, the first %d times, with %d bytes: %q", len(got), got[0].Count, len(got[0].Message),
				got[0].Message[:10])
		}
	}
}

// A follower gets all events since its place, a repeated one once, and an error when some of
// them are forgotten.
func TestSince(t *testing.T) {
	c := newClock()
	_, from := c.List()
	since := func(revision int64) (reasons []string, newest int64) {
		t.Helper()
		all, newest, _, complete := c.Since(revision)
		if !complete {
			t.Fatalf("there is more after %d than is told", revision)
		}
		for _, e := range all {
			reasons = append(reasons, fmt.Sprintf("%s %d", e.Reason, e.Count))
		}
		return reasons, newest
	}
	_, _, more, _ := c.Since(from)
	for _, reason := range []string{"PowerOn", "PowerOff", "PowerOn"} {
		c.record("a", reason)
	}
	select {
	case <-more:
	default:
		t.Error("nobody says that there is more")
	}
	got, seen := since(from)
	if diff := cmp.Diff([]string{"PowerOff 1", "PowerOn 2"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if all := c.all(); all[1].ResourceVersion != fmt.Sprint(seen) {
		t.Errorf("the newest has the revision %s, and %d is told", all[1].ResourceVersion, seen)
	}
	if got, _ := since(seen); got != nil {
		t.Errorf("nothing has happened since, and %v is told", got)
	}
	c.now = c.now.Add(2 * maxAge)
	c.record("a", "PowerOff")
	if got, _ := since(seen); len(got) != 1 {
		t.Errorf("of one event %v is told", got)
	}
	later := New(func() time.Time { return c.now })
	for name, complete := range map[string]bool{
		"forgotten":       isComplete(c.Since(from)),
		"ahead":           isComplete(c.Since(seen + 100)),
		"another process": isComplete(later.Since(seen)),
	} {
		if complete {
			t.Errorf("%s: somebody who has missed events is not told so", name)
		}
	}
}

func isComplete(_ []hostapi.Event, _ int64, _ <-chan struct{}, complete bool) bool { return complete }
