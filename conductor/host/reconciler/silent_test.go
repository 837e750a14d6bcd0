package reconciler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/host/remote"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// halls are the conductor groups rack-a to rack-d, each of which has a leader.
type halls struct{}

func (halls) Groups() []string { return []string{"rack-a", "rack-b", "rack-c", "rack-d"} }
func (halls) Led(string) bool  { return true }
func (halls) Looked() <-chan struct{} {
	next := make(chan struct{})
	time.AfterFunc(time.Second, func() { close(next) })
	return next
}

// called is the groups of a world, whose leaders are called.
func called(call remote.Call) *remote.Caller {
	return remote.NewCaller(remote.Config{Call: call, Room: halls{}, Patience: node.DefaultPatience(),
		Log:   slog.New(slog.DiscardHandler),
		Count: func(context.Context, []string, map[node.State]bool) (int, error) { return 0, nil }})
}

func inGroup(group string) func(*hostapi.Host) {
	return func(h *hostapi.Host) { h.Annotations = map[string]string{hostapi.AnnotationGroup: group} }
}

func anyBody(_ http.ResponseWriter, r *http.Request, _ string) ([]byte, error) {
	return io.ReadAll(r.Body)
}

// leads is the side of a world that answers calls.
func leads(w *world) *http.Handler {
	h := remote.Server("/", anyBody, w.eng)
	return &h
}

// manyHosts makes more hosts in a group than may wait for it at a time.
func manyHosts(w *world, group string) (names []string) {
	for i := range 12 {
		names = append(names, fmt.Sprintf("%s-%d", group, i))
		w.apply(names[i], inGroup(group))
	}
	return names
}

// Leaders of three groups do not answer, each of which has more hosts than there are workers. Hosts of others go on in
// no time, those of the three say why they wait, and go on when their leaders do.
func TestSilentLeaders(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		var leader atomic.Pointer[http.Handler]
		var asked atomic.Int64 // calls that were not answered
		thaw := make(chan struct{})
		groups := called(func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
			if group != "rack-a" {
				asked.Add(1)
				select {
				case <-thaw:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/"+path, bytes.NewReader(body))
			answer := httptest.NewRecorder()
			(*leader.Load()).ServeHTTP(answer, q)
			return answer.Body.Bytes(), nil
		})
		w.groups, w.limit = groups, 100
		w.start()
		leader.Store(leads(w))
		began := time.Now()
		silent := manyHosts(w, "rack-b")
		silent = append(silent, manyHosts(w, "rack-c")...)
		silent = append(silent, "alone")
		w.apply("alone", inGroup("rack-d"))
		time.Sleep(time.Second)
		w.apply("healthy", inGroup("rack-a"))
		w.apply("own", nil)
		w.becomes("healthy", hostapi.StateAvailable)
		w.becomes("own", hostapi.StateAvailable)
		took := time.Since(began)
		w.stop() // of no other group is anything known at first
		w.start()
		leader.Store(leads(w))
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go groups.Watch(ctx, w.rec.GroupChanged)
		w.edit("healthy", withImage("http://images/a"))
		w.becomes("healthy", hostapi.StateProvisioned)
		if took > 8*time.Second || time.Since(began) > 16*time.Second {
			t.Errorf("hosts of other groups were available after %s, provisioned after %s", took, time.Since(began))
		}
		for _, name := range silent {
			h := w.until(name, "told why it waits", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
			if st := h.Status; !strings.Contains(st.ErrorMessage, "does not answer") || st.ErrorType != "" {
				t.Errorf("the status of %s is %+v", name, st)
			}
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the last one is told why it waits after %s", took)
		}
		before := asked.Load()
		time.Sleep(time.Minute)
		if calls := asked.Load() - before; calls < 9 || calls > 18 {
			t.Errorf("leaders of three groups that do not answer were asked %d times in a minute", calls)
		}
		close(thaw)
		began = time.Now()
		for _, name := range silent {
			w.becomes(name, hostapi.StateAvailable)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("hosts went on %s after their leaders", took)
		}
	})
}

// One of two leaders, behind HTTP, takes connections and requests, and answers none. More hosts wait for it than there
// are workers; one of the other group is available before any wait ends.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mem.New())
	var leader atomic.Pointer[http.Handler]
	thaw := make(chan struct{})
	var waiting atomic.Int64
	serve := func(before func()) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
			before()
			(*leader.Load()).ServeHTTP(to, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	at := map[string]*httptest.Server{
		"rack-a": serve(func() {}),
		"rack-b": serve(func() {
			waiting.Add(1)
			<-thaw
		}),
	}
	answerAgain := sync.OnceFunc(func() { close(thaw) })
	t.Cleanup(answerAgain) // before the servers' end, which waits for their answers
	w.groups = called(func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, at[group].URL+"/"+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		answer, err := at[group].Client().Do(q)
		if err != nil {
			return nil, err
		}
		body, err = io.ReadAll(answer.Body)
		return body, errors.Join(err, answer.Body.Close())
	})
	w.start()
	leader.Store(leads(w))
	defer func() { w.stop() }()
	w.secret("bmc", "right")
	soon := func(name string, within time.Duration) {
		t.Helper()
		began := time.Now()
		for w.host(name).Status.Provisioning.State != hostapi.StateAvailable {
			if time.Since(began) > within {
				t.Fatalf("after %s the host %s is %+v", within, name, w.host(name).Status)
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("%s is available after %s", name, time.Since(began))
	}
	silent := manyHosts(w, "rack-b")
	for waiting.Load() < 8 {
		time.Sleep(time.Millisecond)
	}
	w.apply("healthy", inGroup("rack-a"))
	w.apply("own", nil)
	soon("healthy", 8*time.Second)
	soon("own", 8*time.Second)
	if waiting.Load() != 8 {
		t.Errorf("%d calls wait for one leader", waiting.Load())
	}
	answerAgain()
	for _, name := range silent {
		soon(name, 30*time.Second)
	}
}
