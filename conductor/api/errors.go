package api

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The faults that many handlers answer with, in Ironic's words.

// notAcceptable: a field, verb or filter is newer than the microversion.
func notAcceptable() error {
	return nodeapi.NewFault(http.StatusNotAcceptable, "Request not acceptable.")
}

// noResource: the whole path is newer than the microversion.
func noResource() error {
	return nodeapi.NewFault(http.StatusNotFound, "Resource could not be found.")
}

func badRequest(format string, args ...any) error {
	return nodeapi.NewFault(http.StatusBadRequest, format, args...)
}

// statusOf is the HTTP status of each kind of refusal.
func statusOf(k node.Kind) int {
	switch k {
	case node.NotFound:
		return http.StatusNotFound
	case node.Conflict, node.Locked:
		return http.StatusConflict
	case node.Forbidden:
		return http.StatusForbidden
	case node.Busy:
		return http.StatusServiceUnavailable
	case node.Invalid, node.InvalidState:
		return http.StatusBadRequest
	case node.BMCFailed:
		return http.StatusInternalServerError // Ironic's; 502 would speak of a proxy to its clients
	}
	return http.StatusInternalServerError
}

// isNotFound reports whether the client is told that something is not there.
func isNotFound(err error) bool {
	fault := faultOf(err)
	return fault != nil && fault.Status == http.StatusNotFound
}

// faultOf translates an error into what the client is told; nil for errors
// that are ours.
func faultOf(err error) *nodeapi.Fault {
	var (
		fault   *nodeapi.Fault
		refusal *node.Refusal
		event   *node.InvalidEventError
		routing *echo.HTTPError
	)
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &refusal):
		return nodeapi.NewFault(statusOf(refusal.Kind), "%s", refusal.Reason)
	case errors.As(err, &event):
		return nodeapi.NewFault(http.StatusBadRequest, "The requested action %q can not be performed while the node is in state %q.", event.Event, event.State)
	case errors.As(err, &routing):
		return nodeapi.Routing(routing.Code, "")
	case errors.Is(err, node.ErrNotFound):
		return nodeapi.NewFault(http.StatusNotFound, "Resource could not be found.")
	case errors.Is(err, node.ErrConflict), errors.Is(err, node.ErrStale):
		return nodeapi.NewFault(http.StatusConflict, "%s; please retry", err)
	}
	return nil
}

// answerError is where every handler's error ends: told to the client, and
// logged when it is ours.
func (a *API) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		a.log.Debug("answer cut off", "path", c.Request().URL.Path, "err", err)
		return
	}
	fault := faultOf(err)
	switch {
	case fault != nil:
	case nodeapi.WasCutOff(c.Request(), err):
		a.log.Debug("request cut off", "path", c.Request().URL.Path, "err", err)
		fault = nodeapi.CutOff(c.Response())
	default:
		fault = nodeapi.OutOfSpace(err)
		id := c.Response().Header().Get(nodeapi.HeaderRequestID)
		a.logOf(c.Request(), id).Error("request failed", "err", err)
		if fault == nil {
			fault = ours(id)
		}
	}
	if unrouted(err, fault) && strings.HasPrefix(c.Request().URL.Path, nodeapi.Root) {
		if _, bad := nodeapi.Begin(c.Response(), c.Request()); bad != nil {
			a.log.Debug("no such path or method, asked for in a version we lack", "path", c.Request().URL.Path)
		}
	}
	if err := fault.Write(c.Response()); err != nil {
		a.log.Debug("client gone before its answer", "path", c.Request().URL.Path, "err", err)
	}
}

// unrouted reports whether no handler was reached, which would have told of the
// microversions.
func unrouted(err error, fault *nodeapi.Fault) bool {
	var routing *echo.HTTPError
	return errors.As(err, &routing) || fault.Status == http.StatusMethodNotAllowed
}

// recover answers 500 for a handler that panicked. http.ErrAbortHandler is how
// a handler asks for the connection to be dropped.
func (a *API) recover(w http.ResponseWriter, r *http.Request, id string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the very value, never wrapped
		panic(p)
	}
	a.logOf(r, id).Error("request panicked", "panic", p, "stack", string(debug.Stack()))
	if err := ours(id).Write(w); err != nil {
		a.log.Debug("client gone before its answer", "path", r.URL.Path, "err", err)
	}
}

// ours tells a client that it is not to blame, and where the reason is.
func ours(id string) *nodeapi.Fault {
	return nodeapi.NewFault(http.StatusInternalServerError, "The conductor failed to answer; its log has the reason under request %s", id)
}
