package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// bootWatch answers with the query, as a MAC of an event, and follows until its end.
type bootWatch struct{ servers []nodeapi.BootServer }

func (b bootWatch) Servers() []nodeapi.BootServer { return b.servers }

func (bootWatch) Stream(ctx context.Context, q nodeapi.BootQuery, emit func([]nodeapi.BootLine) error) error {
	lines := []nodeapi.BootLine{{Lost: 1}, {Event: &nodeapi.BootEvent{ID: 7, Detail: q.Values().Encode()}}}
	if err := emit(lines); err != nil || !q.Follow {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

const watchPath = nodeapi.FerriteRoot + "/boot/watch"

// askWatch asks as a server's client does: writers take deadlines.
func askWatch(t *testing.T, h http.Handler, query string) *httptest.ResponseRecorder {
	t.Helper()
	rec := withDeadlines{httptest.NewRecorder()}
	h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, watchPath+query, nil))
	return rec.ResponseRecorder
}

func TestBootWatch(t *testing.T) {
	w := newAtWork(t, func(o *api.Options) { o.BootWatch = bootWatch{} })
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"":                           {200, `"detail":""`},
		"?since=5m&after=3":          {200, "after=3\\u0026since=5m0s"},
		"?mac=52-54-00-77-00-AB":     {200, "mac=52%3A54%3A00%3A77%3A00%3Aab"},
		"?node=" + w.node.UUID:       {200, "node=" + w.node.UUID},
		"?node=nobody":               {404, "Node nobody could not be found"},
		"?since=-5m":                 {400, "since=-5m: expected a duration"},
		"?since=5":                   {400, "expected a duration"},
		"?after=-1":                  {400, "expected the id of an event"},
		"?mac=web-1":                 {400, "mac=web-1: expected a MAC"},
		"?follow=perhaps":            {400, "expected true or false"},
		"?follow=false&follow=false": {400, "once"},
		"?tail=5":                    {400, "unexpected argument tail"},
	} {
		got := askWatch(t, w.api, query)
		text := got.Body.String()
		if want.says == `"detail":""` {
			want.says = `{"lost":1}` + "\n" + `{"event":{"id":7,`
		}
		if got.Code != want.status || !strings.Contains(text, want.says) {
			t.Errorf("%s: %d %s, want %d with %s", query, got.Code, text, want.status, want.says)
		}
		if got.Code == http.StatusOK && got.Header().Get("Content-Type") != nodeapi.MediaLines {
			t.Errorf("%s: as %s", query, got.Header().Get("Content-Type"))
		}
	}
	none := newAtWork(t, func(*api.Options) {})
	got := askWatch(t, none.api, "")
	if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "--boot") {
		t.Errorf("without a boot service: %d %s", got.Code, got.Body)
	}
}

// TestBootWatchEnds: a watch ends with the right to it, when the conductor stops, and after half
// an hour in any case; a user has four.
func TestBootWatchEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*atWork, *revocable)
		after time.Duration
	}{
		"user deleted":   {func(_ *atWork, users *revocable) { users.gone.Store(true) }, time.Minute},
		"stop":           {func(w *atWork, _ *revocable) { w.stop() }, time.Minute},
		"nothing at all": {func(*atWork, *revocable) {}, 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				users := &revocable{}
				w := newAtWork(t, func(o *api.Options) {
					o.Auth, o.BootWatch = users, bootWatch{}
					o.Streams = connlimit.NewStreams(connlimit.StreamLimits{User: 4}, nil)
				})
				began := time.Now()
				ended := make(chan time.Duration, 4)
				for range 4 {
					go func() {
						if rec := askWatch(t, w.api, "?follow=true"); rec.Code != http.StatusOK {
							t.Errorf("%d %s", rec.Code, rec.Body)
						}
						ended <- time.Since(began)
					}()
				}
				time.Sleep(time.Minute)
				if rec := askWatch(t, w.api, "?follow=true"); rec.Code != http.StatusServiceUnavailable {
					t.Errorf("a user's fifth: %d, want 503", rec.Code)
				}
				c.end(w, users)
				for range 4 {
					if took := <-ended; took < c.after || took > c.after+6*time.Second {
						t.Errorf("it ends after %v, want %v", took, c.after)
					}
				}
			})
		})
	}
}

// TestBootWatchFlows: lines come while the answer lasts.
func TestBootWatchFlows(t *testing.T) {
	c := newConductor(t)
	s := httptest.NewServer(api.New(api.Options{Conductor: c.Engine, BootWatch: bootWatch{},
		Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+watchPath+"?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("X-Accel-Buffering") != "no" {
		t.Error("nginx would hold the lines back")
	}
	lines := bufio.NewScanner(resp.Body)
	for _, want := range []string{"lost", "event"} {
		var got map[string]any
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil || got[want] == nil || len(got) != 1 {
			t.Errorf("%s, want %s alone", lines.Text(), want)
		}
	}
}

// TestOtherDHCPInStatus: the status of a node that waits for its machine warns of unexpected DHCP servers.
func TestOtherDHCPInStatus(t *testing.T) {
	began := time.Now()
	server := func(address string, last time.Time, expected bool) nodeapi.BootServer {
		return nodeapi.BootServer{Address: address, Last: last, Expected: expected}
	}
	watch := bootWatch{[]nodeapi.BootServer{
		server("10.77.0.2", began.Add(time.Minute), false), server("10.77.0.3", began.Add(time.Minute), true),
		server("10.77.0.4", began.Add(-time.Hour), false),
	}}
	for state, want := range map[node.State]int{node.CleanWait: 1, node.Available: 0} {
		w := newAtWork(t, func(o *api.Options) { o.BootWatch = watch })
		if state == node.CleanWait {
			n := w.node
			n.ProvisionState, n.ProvisionUpdatedAt = state, &began
			n.Run = &node.Run{Activity: "clean", Since: began, StepSince: began, Waiting: "the first heartbeat",
				Steps: []node.Step{{Interface: "agent", Step: "wait_for_heartbeat"}}}
			if _, err := w.store.Commit(t.Context(), node.Change{Save: &n}); err != nil {
				t.Fatal(err)
			}
		}
		var got nodeapi.Status
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet,
			nodeapi.FerriteRoot+"/nodes/"+w.node.UUID+"/status", nil))
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Warnings) != want || want > 0 && !strings.Contains(got.Warnings[0], "another DHCP server, 10.77.0.2,") {
			t.Errorf("%s: %d %q", state, rec.Code, got.Warnings)
		}
	}
}
