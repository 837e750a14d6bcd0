package connlimit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// readers are clients that follow streams.
type readers struct {
	t *testing.T
	*Streams
	reports []string
	ended   []string
	leave   []func()
}

func newReaders(t *testing.T, l StreamLimits) *readers {
	r := &readers{t: t}
	r.Streams = NewStreams(l, func(err error, holder string) { r.reports = append(r.reports, err.Error()+" "+holder) })
	return r
}

// opens opens n streams, which must find places; those that end for them are users.
func (r *readers) opens(n int, of Reader, gaveWay ...string) {
	r.t.Helper()
	for range n {
		leave, err := r.Open(of, func(error) { r.ended = append(r.ended, of.User) })
		if err != nil {
			r.t.Fatalf("%+v: %v", of, err)
		}
		r.leave = append(r.leave, leave)
	}
	if !slices.Equal(r.ended, gaveWay) {
		r.t.Fatalf("for %+v the streams of %v end, want %v", of, r.ended, gaveWay)
	}
	r.ended = nil
}

func (r *readers) refused(of Reader, share string) {
	r.t.Helper()
	var full *FullError
	if _, err := r.Open(of, nil); !errors.As(err, &full) || full.Share != share {
		r.t.Fatalf("%+v: %v, want that %s is full", of, err, share)
	}
}

// TestStreamsShares: users and projects have no more than their share, kinds that cost more neither, and the loopback's
// are outside of all.
func TestStreamsShares(t *testing.T) {
	r := newReaders(t, StreamLimits{All: 8, Project: 5, User: 3, Kinds: map[string]int{"logs": 2}, Loopback: 2})
	ann, bob, cid := Reader{User: "ann", Project: "blue"}, Reader{User: "bob", Project: "blue"}, Reader{User: "cid",
		Project: "blue"}
	r.opens(3, ann)
	r.refused(ann, "user ann")
	r.opens(2, bob)
	r.opens(1, cid, "ann") // of their project's share
	r.refused(bob, "project blue")
	r.opens(2, Reader{User: "root", Kind: "logs"})
	r.opens(1, Reader{User: "eve", Kind: "logs"}, "root")
	r.refused(Reader{User: "fay", Kind: "logs"}, "all logs")
	r.opens(1, Reader{User: "root"})
	r.opens(2, Reader{User: "root", Local: true})
	if got := fmt.Sprint(r.Counts()); got != "{map[:8 logs:2] 2 3}" {
		t.Error(got)
	}
	for _, leave := range r.leave {
		leave()
	}
	if got := fmt.Sprint(r.Counts()); got != "{map[] 2 3}" {
		t.Error(got)
	}
}

// TestStreamsOfTheLoopback: readers through a proxy of the host, which names no clients, have half as many places as
// others have once the loopback's places are taken. Only when these are full, too, a stream of the loopback ends.
func TestStreamsOfTheLoopback(t *testing.T) {
	r := newReaders(t, StreamLimits{All: 8, User: 8, Loopback: 4})
	ann, bob, cid := Reader{User: "ann", Local: true}, Reader{User: "bob", Local: true}, Reader{User: "cid", Local: true}
	r.opens(6, ann)
	r.refused(ann, "the loopback")
	r.opens(2, bob, "ann", "ann")
	r.opens(1, cid, "ann")
	if got := len(r.within(scope{of: func(o *stream) bool { return o.Local }})); got != 4 {
		t.Errorf("%d have places of the loopback, want 4", got)
	}
	r.opens(6, Reader{User: "dan"})
	for _, leave := range r.leave {
		leave()
	}
	if got := fmt.Sprint(r.Counts()); got != "{map[] 3 1}" {
		t.Error(got)
	}
}

// TestStreamsGiveWay: in a full pool the oldest stream of the reader with most ends, until all have the same. Then no
// reader takes anything from another, however often they ask. Once a minute the reader with most is reported.
func TestStreamsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReaders(t, StreamLimits{All: 8})
		ann, bob := Reader{User: "ann", Project: "blue"}, Reader{User: "bob", Project: "blue"}
		r.opens(2, ann)
		r.opens(4, bob)
		r.opens(2, Reader{User: "root"})
		r.opens(3, Reader{User: "new"}, "bob", "bob", "ann") // blue has most, and of it bob, then ann has the oldest
		for range 100 {
			r.refused(ann, "all readers")
		}
		if len(r.reports) != 1 || !strings.Contains(r.reports[0], "all 8 places") || !strings.Contains(r.reports[0],
			"project blue had most, 6") {
			t.Errorf("reported: %v", r.reports)
		}
		time.Sleep(reportAgain)
		r.refused(ann, "all readers")
		if len(r.reports) != 2 {
			t.Errorf("reported a minute later: %v", r.reports)
		}
	})
}
