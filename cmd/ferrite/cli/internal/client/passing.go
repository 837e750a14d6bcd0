package client

import (
	"errors"
	"net/http"
	"regexp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// lostError is a request without an answer: the port is closed, or the connection broke.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// ExitCode returns the exit status for a conductor that did not answer.
func (e *lostError) ExitCode() exit.Code { return exit.Unreachable }

// lockedText is how Ironic words it.
var lockedText = regexp.MustCompile(` is locked by `)

// passing are the statuses of a server that restarts or has no room.
var passing = map[int]bool{
	http.StatusTooManyRequests: true, http.StatusBadGateway: true, http.StatusServiceUnavailable: true,
	http.StatusGatewayTimeout: true,
}

// Passing reports an error that may be gone soon: the server restarts, has no room, or the connection was lost. A
// request without an answer may have been carried out.
func Passing(err error) bool {
	var f *nodeapi.Fault
	var lost *lostError
	return errors.As(err, &f) && passing[f.Status] || errors.As(err, &lost)
}

// Locked reports a refusal since the conductor is at work on the node.
func Locked(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusConflict && lockedText.MatchString(f.Text)
}
