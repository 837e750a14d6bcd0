package auth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Shares bounds the answers without an end of their own, such as watches and
// followed logs, that are given at a time: in all, to the users of one project,
// and to one user. 0 is no bound.
type Shares struct{ All, Project, User int }

// CheckEvery is how long a stream may outlast the right to it.
const CheckEvery = 5 * time.Second

// Streams keeps count of such answers, and ends them with the right to them. It
// is safe for concurrent use.
type Streams struct {
	shares Shares

	mu       sync.Mutex
	all      int
	waiting  chan struct{} // closed when the last place is given back; nil: nobody waits
	projects map[string]int
	users    map[string]int
}

// NewStreams makes a Streams in which nobody has a place.
func NewStreams(s Shares) *Streams {
	return &Streams{shares: s, projects: map[string]int{}, users: map[string]int{}}
}

// errRevoked ends a stream whose caller has lost the right to it.
var errRevoked = errors.New("the right to this has ended")

// Open gives a caller, nil where nobody is asked, a place for one answer: a
// context that ends with ctx, or when allowed, which is asked every CheckEvery,
// returns an error. Without a place it is a *nodeapi.Fault, 503, that names the
// share. end gives the place back.
func (s *Streams) Open(ctx context.Context, c *Caller,
	allowed func(context.Context) error) (_ context.Context, end func(), err error) {
	if c == nil {
		c = &Caller{}
	}
	if err := s.take(c); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(CheckEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := allowed(ctx); err != nil {
				cancel(errors.Join(errRevoked, err))
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); <-done; s.give(c) }, nil
}

// Revoked reports whether a stream's context ended with the right to it.
func Revoked(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errRevoked) }

func (s *Streams) take(c *Caller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := func(have, limit int) bool { return limit > 0 && have >= limit }
	refuse := func(whose string, limit int) error {
		return nodeapi.NewFault(http.StatusServiceUnavailable,
			"%s already %d answers of this kind open: end one, and try again", whose, limit)
	}
	switch {
	case c.User != "" && full(s.users[c.User], s.shares.User):
		return refuse("User "+c.User+" has", s.shares.User)
	case c.Project != "" && full(s.projects[c.Project], s.shares.Project):
		return refuse("Project "+c.Project+" has", s.shares.Project)
	case full(s.all, s.shares.All):
		return refuse("The conductor's clients have", s.shares.All)
	}
	s.all++
	s.users[c.User]++
	s.projects[c.Project]++
	return nil
}

func (s *Streams) give(c *Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all--; s.all == 0 && s.waiting != nil {
		close(s.waiting)
		s.waiting = nil
	}
	for _, of := range []struct {
		counts map[string]int
		key    string
	}{{s.users, c.User}, {s.projects, c.Project}} {
		if of.counts[of.key]--; of.counts[of.key] == 0 {
			delete(of.counts, of.key)
		}
	}
}

// Wait returns when nobody has a place; the error is that of a context that ended first.
func (s *Streams) Wait(ctx context.Context) error {
	s.mu.Lock()
	if s.all == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.waiting == nil {
		s.waiting = make(chan struct{})
	}
	empty := s.waiting
	s.mu.Unlock()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Authority identifies the sender of a request: an Authenticator.
type Authority interface {
	Authenticate(w http.ResponseWriter, r *http.Request) (*Caller, error)
}

// Same refuses a request whose sender is no longer the caller that a stream was
// opened for: the user or token is gone, or has another role or project.
func Same(a Authority, r *http.Request, c *Caller) error {
	if a == nil || c == nil {
		return nil
	}
	now, err := a.Authenticate(unanswered{}, r)
	var fault *nodeapi.Fault
	switch {
	case errors.As(err, &fault) && fault.Status == http.StatusTooManyRequests:
		return nil // somebody guesses at the password: that ends nobody's stream
	case err == nil && *now != *c:
		return errRevoked
	}
	return err
}

// unanswered takes the headers of an answer that is not given.
type unanswered struct{}

func (unanswered) Header() http.Header         { return http.Header{} }
func (unanswered) Write(p []byte) (int, error) { return len(p), nil }
func (unanswered) WriteHeader(int)             {}
