package rest

import (
	"cmp"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ServeHTTP answers one request, also if its handler panics.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header()[nodeapi.HeaderRequestID] = []string{id}
	s.protect(w.Header())
	defer s.recover(w, r, id)
	if s.o.Rewrite != nil {
		s.o.Rewrite(r)
	}
	if s.o.Streams == nil || !s.o.Streams(r) {
		defer s.bodiesOf(r.URL.Path).bound(r)()
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusOK)
		return
	}
	if s.foreign(w, r) {
		return
	}
	s.answer(w, r)
}

// answer serves a request by its row, and reports it to Answered, Follow and the audit.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	r, audited := s.audited(w, r)
	seen := &outcome{ResponseWriter: w, began: time.Now()}
	r, followed := s.follow(w, r)
	whole := false
	defer func() { // also if the handler panics
		status := cmp.Or(seen.status, http.StatusInternalServerError)
		if s.o.Answered != nil {
			s.o.Answered(r.Method, seen.route, status, time.Since(seen.began))
		}
		followed(seen.route, status)
		if whole {
			audited(seen.route, status)
		} else { // something may have been done by then
			audited("", StatusAborted)
		}
	}()
	s.echo.ServeHTTP(seen, r)
	seen.status, whole = cmp.Or(seen.status, http.StatusOK), true
}

// adapt makes a handler of a row. It authenticates the sender, negotiates the microversion (which paths outside /v1 do
// not have), and refuses callers without permission.
func (s *Server) adapt(r Route) echo.HandlerFunc {
	rule, pages := s.Rules.Of(r.Method, r.Path, ""), r.Wire.Pages()
	handle := func(c *Call) error {
		if err := c.checkURL(); err != nil {
			return err
		}
		if err := s.authorize(c, r.Known); err != nil {
			return err
		}
		if s.o.Admit != nil && c.Caller != nil {
			if err := s.o.Admit(c); err != nil {
				return err
			}
		}
		if err := c.readForce(r); err != nil {
			return err
		}
		if pages {
			if err := c.Reserve(pageRoom); err != nil {
				return err
			}
		}
		if s.o.Retry != nil {
			return s.o.Retry(c, r.Handle)
		}
		return r.Handle(c)
	}
	versioned := len(r.Path) >= 3 && r.Path[:3] == nodeapi.Root
	return func(ec echo.Context) error {
		c := &Call{Context: ec, Minor: nodeapi.MaxMinor, Rule: rule, public: s.public, memory: s.Memory(ec.Request()),
			grow: s.o.Grow}
		defer c.memory.End()
		if err := s.identify(c); err != nil {
			return err
		}
		if !versioned {
			return handle(c)
		}
		minor, err := nodeapi.Begin(ec.Response(), ec.Request())
		if err != nil {
			return err
		}
		c.Minor = minor
		if minor < r.Since {
			if r.TooOld != nil {
				return r.TooOld
			}
			return NoResource()
		}
		return handle(c)
	}
}

// readForce reads the header X-Ferrite-Force, where the route reads it.
func (c *Call) readForce(r Route) error {
	if r.Forcible == "" {
		return nil
	}
	switch value := c.Request().Header.Get(nodeapi.HeaderForce); value {
	case "", "false":
	case "true":
		c.Forced = true
	default:
		return BadRequest("Header %s: expected true or false, found %q", nodeapi.HeaderForce, value)
	}
	return nil
}

// identify authenticates the sender of a request, for later checks and for the history. Without authentication Caller
// stays nil, and nothing is checked.
func (s *Server) identify(c *Call) error {
	if s.o.Auth == nil || c.Rule.Public() {
		return nil
	}
	caller, err := s.o.Auth.Authenticate(c.Response(), c.Request())
	if err != nil {
		return err
	}
	c.Caller = caller
	if s.o.Identified != nil {
		c.SetRequest(c.Request().WithContext(s.o.Identified(c.Request().Context(), caller)))
	}
	return nil
}

// authorize refuses a caller that the rule allows for no record at all. Where the record decides, handlers check when
// they have read it: node for a node in the path, permit for others. A caller that may not know of a node gets the 404
// of a missing one.
func (s *Server) authorize(c *Call, known func(*Call) error) error {
	if c.Caller == nil || c.Rule.Conceivable(c.Caller) {
		return nil
	}
	if s.o.Known != nil {
		if err := s.o.Known(c); err != nil {
			return err
		}
	}
	if known != nil {
		if err := known(c); err != nil {
			return err
		}
	}
	return c.Rule.Denied()
}
