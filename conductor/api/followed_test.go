package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// quietLogs has logs that nothing is added to.
type quietLogs struct{ api.Logs }

func (quietLogs) Stream(ctx context.Context, _ string, _ nodeapi.LogQuery, _ func([]byte) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// revocable knows a reader of the system until gone is set.
type revocable struct{ gone atomic.Bool }

func (a *revocable) Authenticate(http.ResponseWriter, *http.Request) (*auth.Caller, error) {
	if a.gone.Load() {
		return nil, nodeapi.NewFault(http.StatusUnauthorized, "Incorrect username or password")
	}
	return &auth.Caller{User: "ann", Role: auth.Reader}, nil
}

// withDeadlines is a recorder that takes deadlines, as a server's writer does.
type withDeadlines struct{ *httptest.ResponseRecorder }

func (withDeadlines) SetReadDeadline(time.Time) error  { return nil }
func (withDeadlines) SetWriteDeadline(time.Time) error { return nil }

// TestFollowedLogEnds: a followed log ends with the right to it, when the
// conductor stops, and after half an hour in any case.
func TestFollowedLogEnds(t *testing.T) {
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
					o.Auth, o.Logs = users, quietLogs{}
					o.Streams = connlimit.NewStreams(connlimit.StreamLimits{User: 4}, nil)
				})
				began := time.Now()
				follow := func() (code int, took time.Duration) {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodGet,
						nodeapi.FerriteRoot+"/nodes/"+w.node.UUID+"/logs?follow=true", nil)
					rec := withDeadlines{httptest.NewRecorder()}
					w.api.ServeHTTP(rec, r)
					return rec.Code, time.Since(began)
				}
				type end struct {
					code int
					took time.Duration
				}
				ended := make(chan end, 4)
				for range 4 {
					go func() { code, took := follow(); ended <- end{code, took} }()
				}
				time.Sleep(time.Minute)
				if code, _ := follow(); code != http.StatusServiceUnavailable {
					t.Errorf("a user's fifth log: %d, want 503", code)
				}
				c.end(w, users)
				for range 4 {
					if e := <-ended; e.code != http.StatusOK || e.took < c.after || e.took > c.after+auth.CheckEvery {
						t.Errorf("%+v, want 200 after %v", e, c.after)
					}
				}
			})
		})
	}
}
