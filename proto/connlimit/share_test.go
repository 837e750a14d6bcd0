package connlimit

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// asker is a request for a share, over a connection with a ticket of its own.
type asker struct {
	*http.Request
	conn *ticket
	cut  bool // its connection was ended
	from netip.Addr
}

func (r *evictions) asker(from, body string) *asker {
	a := &asker{from: netip.MustParseAddr(from)}
	a.conn = r.enter(a.from, func() { a.cut = true })
	if ok, _ := r.try(a.conn); !ok {
		r.t.Fatalf("%s is not connected", from)
	}
	a.Request = httptest.NewRequestWithContext(context.WithValue(r.t.Context(), key{}, a.conn), "POST", "/",
		strings.NewReader(body))
	if body == "" {
		a.Body = http.NoBody
	}
	a.conn.begin()
	return a
}

// TestShare: a full share gives places to clients that hold few, from requests with late bodies; when there is none, a
// newcomer waits a while.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newEvictions(t, 100), NewShare(3, 2)
		in := func(a *asker) (*http.Request, func()) {
			got, leave := s.Enter(a.Request, a.from)
			if got == nil {
				t.Fatalf("%s finds no room", a.from)
			}
			return got, leave
		}
		busy, late, done := r.asker("10.0.0.1", ""), r.asker("10.0.0.2", "x"), r.asker("10.0.0.2", "x")
		_, leave := in(busy)
		lateRequest, _ := in(late)
		pr, pw := io.Pipe()
		lateRequest.Body.(*sharedBody).ReadCloser = pr
		go io.ReadAll(lateRequest.Body) // ends with pw
		doneRequest, _ := in(done)
		if b, err := io.ReadAll(doneRequest.Body); err != nil || string(b) != "x" {
			t.Errorf("a body is %q, %v", b, err)
		}
		synctest.Wait()

		in(r.asker("10.0.0.3", ""))
		if !late.cut || busy.cut || done.cut {
			t.Errorf("cut off: the late one %t, the busy one %t, the one with its body %t", late.cut, busy.cut, done.cut)
		}
		pw.Close()
		began := time.Now()
		waits := r.asker("10.0.0.4", "")
		if got, _ := s.Enter(waits.Request, waits.from); got != nil || time.Since(began) != queueTime {
			t.Errorf("one more than the share waited %v, and got a place: %t", time.Since(began), got != nil)
		}
		if waits.conn.reading != 0 {
			t.Error("who has waited still counts as waiting")
		}
		time.AfterFunc(time.Second, leave)
		in(waits)
		if now := time.Since(began); now != queueTime+time.Second {
			t.Errorf("a place that is free is taken after %v", now)
		}
	})
}

// TestQueueGivesWay: a request that waits for a place in a share does not keep others from connecting.
func TestQueueGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newEvictions(t, 1), NewShare(1, 1)
		if got, _ := s.Enter(httptest.NewRequestWithContext(t.Context(), "POST", "/", nil),
			netip.MustParseAddr("10.0.0.9")); got == nil {
			t.Fatal("an empty share has no room")
		}
		waits := r.asker("10.0.0.1", "")
		go s.Enter(waits.Request, waits.from)
		synctest.Wait()
		if _, ok := r.has("10.0.0.2"); !ok || !waits.cut {
			t.Errorf("a newcomer is connected: %t; in place of who waits: %t", ok, waits.cut)
		}
		time.Sleep(queueTime) // Enter ends
	})
}
