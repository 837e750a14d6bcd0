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

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestStreamPlaces: streams of all kinds share one pool, by users, or by addresses where nobody says who it is, and the
// loopback beside it. One that gives way learns why.
func TestStreamPlaces(t *testing.T) {
	pool := connlimit.NewStreams(connlimit.StreamLimits{All: 3, User: 2, Loopback: 1}, nil)
	events, watches := auth.NewStreams("events", pool), auth.NewStreams("watches", pool)
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
	open(events, "127.0.0.1", nil, "the loopback: 1")
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
		s := auth.NewStreams("events", nil)
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

// authority knows one caller, or none.
type authority struct{ caller *auth.Caller }

func (a *authority) Authenticate(w http.ResponseWriter, _ *http.Request) (*auth.Caller, error) {
	if a.caller == nil {
		w.Header().Set("WWW-Authenticate", "Basic")
		return nil, errors.New("nobody")
	}
	return a.caller, nil
}

// guessedAt looks at no password, since too many were wrong.
type guessedAt struct{}

func (guessedAt) Authenticate(http.ResponseWriter, *http.Request) (*auth.Caller, error) {
	return nil, nodeapi.NewFault(http.StatusTooManyRequests, "Too many failed logins")
}

// TestSame: a user who is gone, or has become another, is not the same.
func TestSame(t *testing.T) {
	ann := auth.Caller{User: "ann", Role: auth.Operator, Project: "blue"}
	other := ann
	other.Project = "red"
	for name, c := range map[string]struct {
		now  auth.Authority
		same bool
	}{
		"nobody is asked": {nil, true}, "the same": {&authority{&ann}, true}, "another project": {&authority{&other}, false},
		"gone": {&authority{}, false}, "guessed at": {guessedAt{}, true},
	} {
		if err := auth.Same(c.now, nil, &ann); (err == nil) != c.same {
			t.Errorf("%s: %v", name, err)
		}
	}
}
