package auth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// CheckEvery is how long a stream may outlast the right to it. Too many failed logins from its address or for its user
// can prevent the check. Then the stream may last for uncheckedFor: guesses of others do not end it at once, its own do
// not keep it open.
const (
	CheckEvery   = 5 * time.Second
	uncheckedFor = time.Minute
)

// streamAgain is the Retry-After of a client that found no place, in seconds.
const streamAgain = "5"

// Streams are the answers of one kind without an end of their own, such as watches. They have places of the pool of all
// kinds, and end with the right to them. It is safe for concurrent use.
type Streams struct {
	kind string
	who  Authority // nil: callers are not checked
	pool *connlimit.Streams

	mu      sync.Mutex
	all     int
	waiting chan struct{} // closed when the last place is given back; nil without a waiter
}

// NewStreams makes the streams of a kind. The Authority authenticates their callers. They count in the pool of all
// streams; a nil pool has no bounds.
func NewStreams(kind string, who Authority, pool *connlimit.Streams) *Streams {
	return &Streams{kind: kind, who: who, pool: pool}
}

// errRevoked ends a stream after its caller has lost the right to it.
var errRevoked = errors.New("the right to this has ended")

// Open gives a caller a place for a streamed answer. A nil caller means that callers are not checked. The returned
// context ends with ctx, and when another reader gets the place (see GaveWay). It also ends within CheckEvery when the
// sender is no longer the caller, or when allowed, unless nil, returns an error. Without a place the error is a
// *nodeapi.Fault, 503, that names the share. end gives the place back.
func (s *Streams) Open(ctx context.Context, w http.ResponseWriter, r *http.Request, c *Caller,
	allowed func(context.Context) error) (_ context.Context, end func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	leave, err := s.pool.Open(s.reader(r, c), cancel)
	if err != nil {
		cancel(nil)
		w.Header().Set("Retry-After", streamAgain)
		return nil, nil, nodeapi.NewFault(http.StatusServiceUnavailable, "%v", err)
	}
	s.count(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.watch(ctx, r, c, allowed); err != nil {
			cancel(errors.Join(errRevoked, err))
		}
	}()
	return ctx, func() { cancel(nil); <-done; leave(); s.count(-1) }, nil
}

// watch returns why a caller has lost the right to a stream, and nil once ctx has ended.
func (s *Streams) watch(ctx context.Context, r *http.Request, c *Caller, allowed func(context.Context) error) error {
	tick := time.NewTicker(CheckEvery)
	defer tick.Stop()
	for checked := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := s.same(r, c)
		var fault *nodeapi.Fault
		if limited := errors.As(err, &fault) && fault.Status == http.StatusTooManyRequests; !limited {
			checked = time.Now()
		} else if time.Since(checked) < uncheckedFor {
			err = nil
		}
		if err == nil && allowed != nil {
			err = allowed(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// reader identifies the reader of a stream, by the address where callers are not checked.
func (s *Streams) reader(r *http.Request, c *Caller) connlimit.Reader {
	from := clientaddr.Of(r)
	if c == nil {
		c = &Caller{User: connlimit.Network(from).String()}
	}
	return connlimit.Reader{User: c.User, Project: c.Project, Kind: s.kind, Local: from.IsLoopback()}
}

// Revoked reports whether a stream's context ended with the right to it.
func Revoked(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errRevoked) }

// GaveWay is why a stream's context ended for another reader, nil when it did not.
func GaveWay(ctx context.Context) error {
	var way *connlimit.GaveWayError
	if errors.As(context.Cause(ctx), &way) {
		return way
	}
	return nil
}

func (s *Streams) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all += n; s.all == 0 && s.waiting != nil {
		close(s.waiting)
		s.waiting = nil
	}
}

// Wait returns when no place is taken, or with the error of a context that ended first.
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

// same refuses a request if its sender is no longer the caller at the stream's start: the user or token is gone, or has
// another role or project.
func (s *Streams) same(r *http.Request, c *Caller) error {
	if s.who == nil || c == nil {
		return nil
	}
	now, err := s.who.Authenticate(unanswered{}, r)
	if err == nil && !now.is(c) {
		return errRevoked
	}
	return err
}

// unanswered takes the headers of an answer that is not given.
type unanswered struct{}

func (unanswered) Header() http.Header         { return http.Header{} }
func (unanswered) Write(p []byte) (int, error) { return len(p), nil }
func (unanswered) WriteHeader(int)             {}
