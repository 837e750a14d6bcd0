package cluster

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestCall: a leader calls the leader of another group. If it no longer leads its own group, both sides refuse the
// call.
func TestCall(t *testing.T) {
	k := testKey(t, "k1")
	called, inner := newMember(t, "called", k)
	caller, _ := newMember(t, "caller", k)
	id, err := NewIdentity(k, "caller")
	if err != nil {
		t.Fatal(err)
	}
	calls, lease := NewCaller(caller.Cluster, id), newLease("rack-a", 7, time.Now())
	call := func() (string, error) {
		answer, err := calls.Call(t.Context(), lease, "", "/cluster/hosts", []byte("body"))
		return string(answer), err
	}
	var large *http.MaxBytesError
	if _, err := calls.Call(t.Context(), lease, "", "/cluster/hosts", make([]byte, maxCall+1)); !errors.As(err, &large) {
		t.Errorf("a body that is too large: %v", err)
	}
	if _, err := call(); err == nil || !strings.Contains(err.Error(), "no conductor leads") {
		t.Errorf("without a leader: %v", err)
	}
	called.leads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := called.CalledBy(w, r, "rack-a")
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+string(body))
	}))
	caller.sees("called", inner, 1)
	rows := called.Rows.(rowsOf).rows //nolint:forcetypeassert // those of newMember
	leads := func(epoch int64) {
		rows.mu.Lock()
		defer rows.mu.Unlock()
		rows.members["caller"] = store.Member{Name: "caller", Group: "rack-a", Seen: time.Now()}
		rows.leaders["rack-a"] = store.Leader{Group: "rack-a", Holder: "caller", Epoch: epoch}
		rows.until["rack-a"] = time.Now().Add(time.Minute)
	}
	leads(7)
	if answer, err := call(); err != nil || answer != "/cluster/hosts body" {
		t.Errorf("answered %q, %v", answer, err)
	}
	leads(8)
	if _, err := call(); !Unserved(err) || !strings.Contains(err.Error(), ErrNotLeading.Error()) {
		t.Errorf("by an older leader: %v", err)
	}
	if _, err := called.CalledBy(nil, &http.Request{Header: http.Header{}}, "rack-a"); err == nil {
		t.Error("a call of nobody is read")
	}
	leads(7)
	if Unserved(nil) || Unserved(io.ErrUnexpectedEOF) {
		t.Error("a connection that was cut is taken for an answer")
	}
	lease.End(errTooLate)
	if _, err := call(); err == nil || !strings.Contains(err.Error(), ErrNotLeading.Error()) {
		t.Errorf("after the own leadership: %v", err)
	}
}

// TestCallEnds: a call ends when another conductor leads the called group, or when that has no leader.
func TestCallEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(caller *member, address string)
		want   error
	}{
		"another leader": {func(m *member, address string) { m.sees("next", address, 2) }, errLeaderChanged},
		"no leader":      {func(m *member, address string) { m.seesLeft("called", address, 1, 0) }, errNotLed},
	} {
		t.Run(name, func(t *testing.T) { checkCallEnds(t, c.change, c.want) })
	}
}

func checkCallEnds(t *testing.T, change func(caller *member, address string), want error) {
	t.Helper()
	k := testKey(t, "k1")
	called, inner := newMember(t, "called", k)
	caller, _ := newMember(t, "caller", k)
	id, err := NewIdentity(k, "caller")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan struct{})
	called.leads(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // the end of a client is seen once its body is read
		close(came)
		<-r.Context().Done()
	}))
	caller.sees("called", inner, 1)
	ended := make(chan error)
	go func() {
		_, err := NewCaller(caller.Cluster, id).Call(t.Context(), newLease("rack-a", 7, time.Now()), "", "/cluster/x", nil)
		ended <- err
	}()
	<-came
	change(caller, inner)
	if err := <-ended; !errors.Is(err, want) || !Unserved(err) {
		t.Errorf("the call ended with %v", err)
	}
}

// deadlines notes the read deadlines of a request.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestReadCall: the body of a call is bounded in size and time.
func TestReadCall(t *testing.T) {
	for size, fits := range map[int]bool{0: true, maxCall: true, maxCall + 1: false} {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		body, err := readCall(w, httptest.NewRequest(http.MethodPost, "/cluster/x", bytes.NewReader(make([]byte, size))))
		if fits != (err == nil) || fits && len(body) != size {
			t.Errorf("%d bytes: read %d, %v", size, len(body), err)
		}
		if len(w.set) == 0 || time.Until(w.set[0]) <= 0 || time.Until(w.set[0]) > readTime {
			t.Errorf("%d bytes: deadlines %v", size, w.set)
		}
		if fits && (len(w.set) != 2 || !w.set[1].IsZero()) {
			t.Errorf("%d bytes: the deadline stays: %v", size, w.set)
		}
	}
}
