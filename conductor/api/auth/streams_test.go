package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestStreamPlaces: streams of all kinds share one pool, by user, or by address without authentication. The loopback
// has places beside it. A stream that gives way gets the reason.
func TestStreamPlaces(t *testing.T) {
	pool := connlimit.NewStreams(connlimit.StreamLimits{All: 3, User: 2, Loopback: 1}, nil)
	events, watches := auth.NewStreams("events", nil, pool), auth.NewStreams("watches", nil, pool)
	open := func(s *auth.Streams, from string, c *auth.Caller, full string) context.Context {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = from + ":1"
		ctx, end, err := s.Open(t.Context(), w, r, c, func(context.Context) error { return nil })
		var fault *nodeapi.Fault
		switch {
		case full == "" && err != nil:
			t.Fatalf("%s: %v", from, err)
		case full == "":
			t.Cleanup(end)
		case !errors.As(err, &fault) || fault.Status != http.StatusServiceUnavailable ||
			!strings.HasPrefix(fault.Text, full) || w.Header().Get("Retry-After") == "":
			t.Fatalf("%s: %v, %v, want 503 with %q", from, err, w.Header(), full)
		}
		return ctx
	}
	ann := &auth.Caller{User: "ann"}
	first := open(events, "10.0.0.1", ann, "")
	open(watches, "10.0.0.2", ann, "")
	open(watches, "10.0.0.2", ann, "user ann: 2")
	open(watches, "2001:db8::1", nil, "")
	open(watches, "127.0.0.1", ann, "")
	open(events, "127.0.0.1", ann, "the loopback: 1")
	if err := auth.GaveWay(first); err != nil {
		t.Fatal(err)
	}
	open(events, "10.0.0.3", &auth.Caller{User: "bob"}, "")
	if err := auth.GaveWay(first); first.Err() == nil || err == nil || auth.Revoked(first) ||
		!strings.Contains(err.Error(), "user ann had most, 2") {
		t.Errorf("the oldest stream of the one with most ends with %v", err)
	}
}

// TestStreamEndsWithItsRight: a stream ends soon after the right to it, and not
// before.
func TestStreamEndsWithItsRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := auth.NewStreams("events", nil, nil)
		began := time.Now()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		ctx, end, err := s.Open(t.Context(), nil, r, nil, func(context.Context) error {
			if time.Since(began) > time.Hour {
				return errors.New("the user is gone")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		<-ctx.Done()
		if took := time.Since(began); took < time.Hour || took > time.Hour+auth.CheckEvery || !auth.Revoked(ctx) {
			t.Errorf("it ended after %v, revoked: %t", took, auth.Revoked(ctx))
		}
	})
}

// authority returns the answer of a test.
type authority func() (*auth.Caller, error)

func (a authority) Authenticate(w http.ResponseWriter, _ *http.Request) (*auth.Caller, error) {
	w.Header().Set("WWW-Authenticate", "Basic")
	return a()
}

// TestStreamOfTheSameCaller: a stream goes on for its caller alone. Too many failed logins can prevent the check. Then
// the stream goes on for a while and no longer, since a removed user could cause the failures.
func TestStreamOfTheSameCaller(t *testing.T) {
	ann := auth.Caller{User: "ann", Role: auth.Operator, Project: "blue"}
	other := ann
	other.Project = "red"
	is := func(c auth.Caller) func() (*auth.Caller, error) {
		return func() (*auth.Caller, error) { return &c, nil }
	}
	fails := func(status int) func() (*auth.Caller, error) {
		return func() (*auth.Caller, error) { return nil, nodeapi.NewFault(status, "no") }
	}
	const hour = time.Hour
	for name, tc := range map[string]struct {
		now   func() (*auth.Caller, error) // after an hour
		least time.Duration
		most  time.Duration // it has ended by then; 0: it goes on
	}{
		"nobody is asked": {nil, 0, 0}, "the same": {is(ann), 0, 0},
		"another project": {is(other), hour, hour + auth.CheckEvery},
		"gone":            {fails(http.StatusUnauthorized), hour, hour + auth.CheckEvery},
		"never looked at": {fails(http.StatusTooManyRequests), hour + time.Minute - auth.CheckEvery,
			hour + time.Minute + auth.CheckEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var who auth.Authority
			if tc.now != nil {
				who = authority(func() (*auth.Caller, error) {
					since := time.Since(began)
					switch {
					case since > hour:
						return tc.now()
					case since%(50*time.Second) > 20*time.Second: // guesses of another client, with pauses
						return fails(http.StatusTooManyRequests)()
					}
					return &ann, nil
				})
			}
			s := auth.NewStreams("events", who, nil)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			ctx, cancel := context.WithTimeout(t.Context(), 3*hour)
			defer cancel()
			ctx, end, err := s.Open(ctx, nil, r, &ann, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			<-ctx.Done()
			took := time.Since(began)
			if tc.most == 0 && took == 3*hour || took >= tc.least && took <= tc.most && auth.Revoked(ctx) {
				return
			}
			t.Errorf("%s: it ended after %v, revoked: %t", name, took, auth.Revoked(ctx))
		})
	}
}
