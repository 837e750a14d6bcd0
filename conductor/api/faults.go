package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

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
	case node.Invalid, node.InvalidState, node.Lacking:
		return http.StatusBadRequest
	case node.BMCFailed: // Ironic's 500 would count as a fault of the conductor
		return http.StatusBadGateway
	case node.BMCSilent:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// isNotFound reports whether the client's answer is that something is not there.
func isNotFound(err error) bool {
	fault := faultOf(err)
	return fault != nil && fault.Status == http.StatusNotFound
}

// faultOf translates an error into the fault that the client sees; nil for errors that are
// ours.
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
		return nodeapi.NewFault(http.StatusBadRequest,
			"The requested action %q can not be performed while the node is in state %q.", event.Event, event.State)
	case errors.As(err, &routing):
		return nodeapi.Routing(routing.Code, "")
	case errors.Is(err, node.ErrNotFound):
		return nodeapi.NewFault(http.StatusNotFound, "Resource could not be found.")
	case errors.Is(err, node.ErrConflict), errors.Is(err, node.ErrStale):
		return nodeapi.NewFault(http.StatusConflict, "%s; please retry", err)
	}
	return nil
}
