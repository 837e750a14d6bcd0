package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// atWork is an API over an engine that does nothing by itself, with a node that
// is locked.
type atWork struct {
	store    store.Store
	api      *api.API
	node     node.Node
	stopping context.Context
	stop     context.CancelFunc
}

func newAtWork(t *testing.T, with ...func(*api.Options)) *atWork {
	t.Helper()
	w := &atWork{store: mem.New()}
	w.stopping, w.stop = context.WithCancel(t.Context())
	n := node.Node{UUID: "11111111-1111-4111-8111-111111111111", Driver: "fake-hardware", ProvisionState: node.Available,
		PowerState: node.PowerOff}
	var err error
	w.node, err = w.store.Commit(t.Context(), node.Change{
		Insert: &n, Effects: []node.Effect{{Node: n.UUID, Name: "power", RunAt: time.Now()}},
		AddPorts: []node.Port{{UUID: n.UUID, NodeUUID: n.UUID, Address: "52:54:00:00:00:01"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	settings := plan.DefaultSettings()
	settings.ConductorName = "conductor-1"
	eng := engine.New(engine.Config{Store: w.store, Settings: settings, Log: log})
	ramdisks := agents.NewServer(agents.Options{Conductor: eng, FailureRate: 1e9, FailureBurst: 1e9})
	options := api.Options{Conductor: eng, Log: log, Stopping: w.stopping, Mounts: ramdisks.Handlers()}
	for _, change := range with {
		change(&options)
	}
	w.api = api.New(options)
	return w
}

// ask sends a request and measures the time to its answer.
func (w *atWork) ask(ctx context.Context, method, path, body string) (*httptest.ResponseRecorder, time.Duration) {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(nodeapi.MaxMinor))
	rec, began := httptest.NewRecorder(), time.Now()
	w.api.ServeHTTP(rec, r)
	return rec, time.Since(began)
}

// TestLockedWaits: operators' requests are tried three times, a second apart.
// Requests of agents, allocations, and verbs that the state forbids are not.
func TestLockedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAtWork(t)
		of := "/v1/nodes/" + w.node.UUID
		for _, c := range []struct {
			method, path, body string
			status             int
			took               time.Duration
		}{
			{"PATCH", of, `[{"op":"add","path":"/extra/a","value":1}]`, 409, 2 * time.Second},
			{"DELETE", of, "", 409, 2 * time.Second},
			{"PUT", of + "/maintenance", `{"reason":"x"}`, 202, 0},
			{"PUT", of + "/traits/CUSTOM_A", "", 409, 2 * time.Second},
			{"PUT", of + "/states/provision", `{"target":"manage"}`, 409, 2 * time.Second},
			{"PUT", of + "/states/provision", `{"target":"unrescue"}`, 400, 0},
			{"DELETE", "/v1/ports/" + w.node.UUID, "", 409, 2 * time.Second},
			{"POST", "/v1/allocations", `{"resource_class":"x","node":"` + w.node.UUID + `"}`, 409, 0},
			{"POST", "/v1/heartbeat/" + w.node.UUID, `{"callback_url":"https://10.0.0.9:9999"}`, 0, 0},
			{"GET", "/v1/lookup?addresses=52:54:00:00:00:01", "", 0, 0},
			{"GET", of, "", 200, 0},
		} {
			rec, took := w.ask(t.Context(), c.method, c.path, c.body)
			if took != c.took || c.status != 0 && rec.Code != c.status {
				t.Errorf("%s %s: %d after %s, want %d after %s: %s", c.method, c.path, rec.Code, took, c.status, c.took, rec.Body)
			}
		}
	})
}

// TestLockedMeanwhile frees the node while a request waits, which then succeeds.
func TestLockedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAtWork(t)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			held, err := w.store.Claim(t.Context(), "c", time.Now(), time.Hour, []string{w.node.UUID})
			if err != nil || len(held) != 1 {
				t.Error(held, err)
				return
			}
			if _, err := w.store.Commit(t.Context(), node.Change{Finish: &held[0]}); err != nil {
				t.Error(err)
			}
		}()
		rec, took := w.ask(t.Context(), "PUT", "/v1/nodes/"+w.node.UUID+"/traits/CUSTOM_A", "")
		if rec.Code != http.StatusNoContent || took != 2*time.Second {
			t.Errorf("%d after %s, want 204 after 2s: %s", rec.Code, took, rec.Body)
		}
	})
}

// TestLockedEnds: a client that goes away, and a conductor that stops, end the
// waiting; the node stays as it was.
func TestLockedEnds(t *testing.T) {
	const half = 500 * time.Millisecond
	for name, end := range map[string]func(w *atWork, leave context.CancelFunc){
		"client gone": func(_ *atWork, leave context.CancelFunc) { leave() },
		"stop":        func(w *atWork, _ context.CancelFunc) { w.stop() },
		"stop that ends requests": func(w *atWork, leave context.CancelFunc) {
			w.stop()
			leave()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAtWork(t)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				go func() { time.Sleep(half); end(w, leave) }()
				rec, took := w.ask(ctx, "PATCH", "/v1/nodes/"+w.node.UUID, `[{"op":"add","path":"/extra/a","value":1}]`)
				if took != half {
					t.Errorf("answered after %s, want %s", took, half)
				}
				if strings.HasPrefix(name, "stop") && rec.Code != http.StatusServiceUnavailable {
					t.Errorf("status %d, want 503: %s", rec.Code, rec.Body)
				}
				if n, err := w.store.Node(t.Context(), w.node.UUID); err != nil || n.Revision != w.node.Revision {
					t.Errorf("the node is at revision %d (%v), want %d", n.Revision, err, w.node.Revision)
				}
			})
		})
	}
}
