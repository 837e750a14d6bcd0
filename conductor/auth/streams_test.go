package auth_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestStreamShares: neither a user nor a project takes the places of others, and a
// place that is given back is there again.
func TestStreamShares(t *testing.T) {
	s := auth.NewStreams(auth.Shares{All: 5, Project: 3, User: 2})
	always := func(context.Context) error { return nil }
	var ends []func()
	open := func(user, project, full string) {
		t.Helper()
		_, end, err := s.Open(t.Context(), &auth.Caller{User: user, Project: project}, always)
		var fault *nodeapi.Fault
		switch {
		case full == "" && err != nil:
			t.Fatalf("%s of %s: %v", user, project, err)
		case full == "":
			ends = append(ends, end)
		case !errors.As(err, &fault) || fault.Status != http.StatusServiceUnavailable || !strings.HasPrefix(fault.Text, full):
			t.Fatalf("%s of %s: %v, want 503 with %q", user, project, err, full)
		}
	}
	open("ann", "blue", "")
	open("ann", "blue", "")
	open("ann", "blue", "User ann has already 2")
	open("bob", "blue", "")
	open("cid", "blue", "Project blue has already 3")
	open("dot", "red", "")
	open("eve", "", "")
	open("fay", "green", "The conductor's clients have already 5")
	ends[0]()
	open("fay", "green", "")
	for _, end := range ends[1:] {
		end()
	}
	for range 2 {
		open("ann", "blue", "")
	}
	ends[len(ends)-1]()
	ends[len(ends)-2]()
}

// TestStreamEndsWithItsRight: a stream ends soon after the right to it, and not
// before.
func TestStreamEndsWithItsRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := auth.NewStreams(auth.Shares{})
		began := time.Now()
		ctx, end, err := s.Open(t.Context(), nil, func(context.Context) error {
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
