package rest

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The faults that many handlers answer with, in Ironic's words.

// NotAcceptable is the 406 of a field, verb or filter newer than the microversion.
func NotAcceptable() error {
	return nodeapi.NewFault(http.StatusNotAcceptable, "Request not acceptable.")
}

// NoResource is the 404 of a path newer than the microversion.
func NoResource() error {
	return nodeapi.NewFault(http.StatusNotFound, "Resource could not be found.")
}

// BadRequest is a 400 Fault.
func BadRequest(format string, args ...any) error {
	return nodeapi.NewFault(http.StatusBadRequest, format, args...)
}

// answerError is where every handler's error ends: answered to the client, and logged when
// it is ours.
func (s *Server) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		s.Log.Debug("answer cut off", "path", c.Request().URL.Path, "err", err)
		return
	}
	fault := s.o.Fault(err)
	switch {
	case fault != nil:
	case nodeapi.WasCutOff(c.Request(), err):
		s.Log.Debug("request cut off", "path", c.Request().URL.Path, "err", err)
		fault = nodeapi.CutOff(c.Response())
	default:
		fault = nodeapi.OutOfSpace(err)
		id := c.Response().Header().Get(nodeapi.HeaderRequestID)
		s.logOf(c.Request(), id).Error("request failed", "err", err)
		if fault == nil {
			fault = nodeapi.Unavailable(err)
		}
		if fault == nil {
			fault = ours(id)
		}
	}
	if unrouted(err, fault) && strings.HasPrefix(c.Request().URL.Path, nodeapi.Root) {
		if _, bad := nodeapi.Begin(c.Response(), c.Request()); bad != nil {
			s.Log.Debug("no such path or method, asked for in a version we lack", "path", c.Request().URL.Path)
		}
	}
	if err := fault.Write(c.Response()); err != nil {
		s.Log.Debug("client gone before its answer", "path", c.Request().URL.Path, "err", err)
	}
}

// unrouted reports whether no handler was reached, which would have answered the
// microversions.
func unrouted(err error, fault *nodeapi.Fault) bool {
	var routing *echo.HTTPError
	return errors.As(err, &routing) || fault.Status == http.StatusMethodNotAllowed
}

// recover answers 500 for a handler that panicked. A handler panics with http.ErrAbortHandler to drop the connection.
func (s *Server) recover(w http.ResponseWriter, r *http.Request, id string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the very value, never wrapped
		panic(p)
	}
	s.logOf(r, id).Error("request panicked", "panic", p, "stack", string(debug.Stack()))
	if err := ours(id).Write(w); err != nil {
		s.Log.Debug("client gone before its answer", "path", r.URL.Path, "err", err)
	}
}

// ours answers that the client is not to blame, and where the reason is.
func ours(id string) *nodeapi.Fault {
	return nodeapi.NewFault(http.StatusInternalServerError,
		"The conductor failed to answer; its log has the reason under request %s", id)
}
