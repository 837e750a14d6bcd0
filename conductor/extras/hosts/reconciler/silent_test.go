package reconciler_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/remote"
	"github.com/ferrite-metal/ferrite/conductor/node"
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

// called are the groups of a world; their leaders are called.
func called(call remote.Call) *remote.Caller {
	return remote.NewCaller(remote.Config{Call: call, Cluster: halls{}, Patience: node.DefaultPatience(),
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
		names = append(names, fmt.Sprintf("%s-%d", cmp.Or(group, "own"), i))
		w.apply(names[i], inGroup(group))
	}
	return names
}

// Leaders of three groups do not answer, and each group has more hosts than there are workers. Hosts of other groups go
// on without delay. Hosts of the three report the reason for their wait, and go on when their leaders do.
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
		w.groups = groups
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

// pipes are a listener for connections within this process, so that time passes only once all have come to rest.
type pipes struct {
	to     chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.to:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.to <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// served serves HTTP over pipes until the end of the test.
func served(t *testing.T, h http.HandlerFunc) *http.Client {
	t.Helper()
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	server, way := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, &http.Transport{DialContext: p.dial}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(p) })
	t.Cleanup(func() {
		way.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return &http.Client{Transport: way}
}

// One of two leaders, behind HTTP, takes connections and requests, and answers none. More hosts wait for it than there
// are workers; one of the other group is available before any wait ends.
func TestSilentServer(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		var leader atomic.Pointer[http.Handler]
		thaw := make(chan struct{})
		var waiting atomic.Int64
		serve := func(before func()) *http.Client {
			return served(t, func(to http.ResponseWriter, r *http.Request) {
				before()
				(*leader.Load()).ServeHTTP(to, r)
			})
		}
		at := map[string]*http.Client{
			"rack-a": serve(func() {}),
			"rack-b": serve(func() {
				waiting.Add(1)
				<-thaw
			}),
		}
		w.groups = called(func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://leader/"+path, bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			answer, err := at[group].Do(q)
			if err != nil {
				return nil, err
			}
			body, err = io.ReadAll(answer.Body)
			return body, errors.Join(err, answer.Body.Close())
		})
		w.start()
		leader.Store(leads(w))
		began := time.Now()
		silent := manyHosts(w, "rack-b")
		synctest.Wait()
		if waiting.Load() != 8 {
			t.Errorf("%d calls wait for one leader", waiting.Load())
		}
		w.apply("healthy", inGroup("rack-a"))
		w.apply("own", nil)
		w.becomes("healthy", hostapi.StateAvailable)
		w.becomes("own", hostapi.StateAvailable)
		if took := time.Since(began); took >= 10*time.Second || waiting.Load() != 8 {
			t.Errorf("hosts of other groups are available after %s; %d calls wait for the silent leader", took,
				waiting.Load())
		}
		close(thaw)
		for _, name := range silent {
			w.becomes(name, hostapi.StateAvailable)
		}
	})
}

// Leaders of three groups do not answer while their hosts are to be deployed. Hosts of other groups are deployed all
// the same, at any limit of busy nodes, which is kept.
func TestSilentStarts(t *testing.T) {
	for limit, after := range map[int]time.Duration{
		20: time.Second,     // before any call ends
		2:  2 * time.Minute, // while each leader is asked by one call
	} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			in(t, func(t *testing.T, w *world) { checkSilentStarts(t, w, limit, after) })
		})
	}
}

func checkSilentStarts(t *testing.T, w *world, limit int, after time.Duration) {
	t.Helper()
	w.stop()
	var leader atomic.Pointer[http.Handler]
	var freezes, frozen atomic.Bool // for verbs, and for all
	thaw := make(chan struct{})
	w.limit, w.groups = limit, called(func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
		if group != "rack-a" && (frozen.Load() || freezes.Load() && bytes.Contains(body, []byte(`"Provision"`))) {
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
	w.start()
	leader.Store(leads(w))
	silent := slices.Concat(manyHosts(w, "rack-b"), manyHosts(w, "rack-c"), manyHosts(w, "rack-d"))
	w.apply("healthy", inGroup("rack-a"))
	w.apply("own", nil)
	all := append(slices.Clone(silent), "healthy", "own")
	for _, name := range all {
		w.becomes(name, hostapi.StateAvailable)
	}
	freezes.Store(true)
	for _, name := range silent {
		w.edit(name, withImage("http://images/a"))
	}
	time.Sleep(time.Second)
	frozen.Store(true)
	time.Sleep(after)
	began := time.Now()
	for _, name := range []string{"healthy", "own"} {
		w.edit(name, withImage("http://images/a"))
		w.becomes(name, hostapi.StateProvisioned)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("hosts of other groups are deployed after %s", took)
	}
	freezes.Store(false)
	frozen.Store(false)
	close(thaw)
	for _, name := range silent {
		w.becomes(name, hostapi.StateProvisioned)
	}
	if most := w.most.Load(); most > int64(limit)+3 { // one more for each silent leader
		t.Errorf("%d nodes were busy at a time, of %d that may be", most, limit)
	}
}
