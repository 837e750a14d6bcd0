package cluster

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestCall: a leader calls that of another group. One that no longer leads its own is refused on both sides.
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
	if _, err := call(); err == nil || !strings.Contains(err.Error(), "no conductor leads") {
		t.Errorf("without a leader: %v", err)
	}
	called.leads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := called.CalledBy(r, "rack-a")
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
	if _, err := call(); err == nil || !strings.Contains(err.Error(), ErrNotLeading.Error()) {
		t.Errorf("by an older leader: %v", err)
	}
	if _, err := called.CalledBy(&http.Request{Header: http.Header{}}, "rack-a"); err == nil {
		t.Error("a call of nobody is read")
	}
	leads(7)
	lease.End(errTooLate)
	if _, err := call(); err == nil || !strings.Contains(err.Error(), ErrNotLeading.Error()) {
		t.Errorf("after the own leadership: %v", err)
	}
}

// TestCallEnds: a call ends when another conductor leads the group that was called.
func TestCallEnds(t *testing.T) {
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
	caller.sees("next", inner, 2)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), errLeaderChanged.Error()) {
		t.Errorf("the call ended with %v", err)
	}
}
