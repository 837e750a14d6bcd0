package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/server/ratelimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Options configure a Server.
type Options struct {
	Log *slog.Logger
	// Auth identifies the sender of a request; nil: no request is checked.
	Auth  Authenticator
	Rules auth.Rules
	// Fault translates an error into the answer for the client; nil for errors
	// that are the server's.
	Fault func(error) *nodeapi.Fault
	// Identified adds the sender to a request's context; nil for nothing.
	Identified func(ctx context.Context, caller *auth.Caller) context.Context
	// Known refuses a caller that may not know of a record that the path names. It runs before a refusal would reveal
	// that the record exists.
	Known func(c *Call) error
	// Admit refuses a permitted request of an authenticated caller, before its handler; nil admits all.
	Admit func(c *Call) error
	// Retry calls the handler of a permitted request, again where a later try may succeed. Nil: handlers are called once.
	Retry func(c *Call, handler func(*Call) error) error
	// Grow refuses a patch that makes its record longer, by so many bytes of JSON; nil for none.
	Grow func(c *Call, bytes int64) error
	// Rewrite changes older forms of a path into the present one; nil for none.
	Rewrite func(r *http.Request)
	// Answered receives every request: its method, the path of its row ("" for none), the status of the answer, and the
	// time that it took. It must not wait. Nil: not called.
	Answered func(method, route string, status int, took time.Duration)
	// Follow attributes the work for a request, with this id, to the request. end receives the path of its row ("" for
	// none) and the status of the answer. Requests that anybody can send are not followed. It must not wait. Nil: not
	// called.
	Follow func(r *http.Request, id string) (followed *http.Request, end func(route string, status int))
	// Audit records requests and their senders; nil for none.
	Audit Audit
	// Stranger reports whether anybody can call a path. Bodies of such requests
	// have a share of memory of their own.
	Stranger func(path string) bool
	// Streams reports whether the body of a request goes on as it comes, and takes no memory. Nil: none does.
	Streams func(r *http.Request) bool
	// PageBytes ends a page of a list; maxPage when 0.
	PageBytes int
	// PublicURL is the URL by which clients reach the API, as they see it before a proxy: https://cloud.example/metal.
	// Links in answers begin with it, and pages of its origin may send requests. "": links begin with the Host of each
	// request.
	PublicURL string
}

// Handler answers a request, or returns an error: a *nodeapi.Fault or *node.Refusal for the client, anything else for
// the log and a 500.
type Handler = func(w http.ResponseWriter, r *http.Request) error

// Server answers the requests of a table of routes. It is safe for concurrent use.
type Server struct {
	o         Options
	Log       *slog.Logger
	Rules     auth.Rules
	echo      *echo.Echo
	buffers   sync.Pool
	bodies    *bodies                // of requests
	strangers *bodies                // of requests that anybody can send
	answers   *bodies                // that their readers have yet to take
	document  func() ([]byte, error) // of the API, made at the first request for it
	origins   *http.CrossOriginProtection
	strange   *ratelimit.Lines // of the log, about requests of unauthenticated senders
	public    string           // Options.PublicURL without a slash at its end
}

// NewServer makes a Server without routes.
func NewServer(o Options) *Server {
	if o.PageBytes == 0 {
		o.PageBytes = maxPage
	}
	s := &Server{
		o: o, Log: o.Log, Rules: o.Rules, echo: echo.New(), origins: http.NewCrossOriginProtection(),
		bodies: newBodies(bodiesEach, bodiesAll), strangers: newYielding(strangersEach, strangersAll),
		answers: newYielding(answersEach, answersAll), public: strings.TrimRight(o.PublicURL, "/"),
		strange: ratelimit.NewLines(o.Log, time.Now),
	}
	for _, origin := range Origins(o.PublicURL) {
		_ = s.origins.AddTrustedOrigin(origin) // which has a scheme and a host
	}
	s.buffers.New = func() any { b := make([]byte, 0, 4<<10); return &b }
	s.echo.HTTPErrorHandler = s.answerError
	return s
}

// Handle answers routes. documented are rows beside them that the description of
// the API has too.
func (s *Server) Handle(routes []Route, documented ...Route) {
	s.document = sync.OnceValues(func() ([]byte, error) {
		return json.Marshal(document(append(slices.Clone(routes), documented...)))
	})
	for _, r := range routes {
		s.echo.Add(r.Method, r.Path, answers(s.adapt(r)))
	}
}

// bodiesOf is the share of memory that the body of a request to a path counts in.
func (s *Server) bodiesOf(path string) *bodies {
	if s.o.Stranger != nil && s.o.Stranger(path) {
		return s.strangers
	}
	return s.bodies
}

// Mount serves a handler at a prefix and below.
func (s *Server) Mount(prefix string, h Handler) {
	prefix = strings.TrimSuffix(prefix, "/")
	for _, path := range []string{prefix, prefix + "/*"} {
		s.echo.Any(path, answers(func(c echo.Context) error { return h(c.Response(), c.Request()) }))
	}
}

// answers makes an error of a handler that answers nothing. net/http would send an empty 200: a success that no handler
// meant.
func answers(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		routed(c)
		err := h(c)
		if err == nil && !c.Response().Committed {
			return fmt.Errorf("%s %s: the handler has answered nothing: please report it", c.Request().Method, c.Path())
		}
		return err
	}
}

// Buffer lends a buffer to f and answers with the bytes that f returns.
func (s *Server) Buffer(c *Call, status int, f func(dst []byte) []byte) error {
	return s.buffer(c, status, "application/json", func(dst []byte) ([]byte, error) { return f(dst), nil })
}

// buffer is Buffer for an f that may fail, and for any media type.
func (s *Server) buffer(c *Call, status int, media string, f func(dst []byte) ([]byte, error)) (err error) {
	b, _ := s.buffers.Get().(*[]byte)
	if *b, err = f((*b)[:0]); err != nil {
		return err
	}
	if cap(*b) <= 4<<20 { // drop the buffer of a huge list
		defer s.buffers.Put(b)
	}
	return c.Bytes(status, media, *b)
}
