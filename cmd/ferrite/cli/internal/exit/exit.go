// Package exit is the exit statuses of ferrite: which error ends the program with which number.
package exit

import (
	"context"
	"errors"
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Code is an exit status.
type Code int

// The exit statuses. Scripts rely on them: none changes its meaning.
const (
	Done        Code = 0
	Failed      Code = 1
	BadUsage    Code = 2
	NotFound    Code = 3
	Refused     Code = 4
	Held        Code = 5
	TimedOut    Code = 6
	Unreachable Code = 7
	Interrupted Code = 130
)

// Meaning is an exit status with the text for people.
type Meaning struct {
	Code
	Text string
}

// Meanings are all exit statuses, in order.
func Meanings() []Meaning {
	return []Meaning{
		{Done, "the command succeeded"},
		{Failed, "it failed: the machine, the conductor or this computer could not do it"},
		{BadUsage, "the command line is wrong; no request was sent"},
		{NotFound, "a node, host or other record does not exist"},
		{Refused, "the conductor refused: wrong state, no right, locked, or a bad value"},
		{Held, "with --wait: the node is held by a hold step and waits for: ferrite node unhold NODE"},
		{TimedOut, "with --wait: it was not done in time; the conductor continues"},
		{Unreachable, "no conductor answered"},
		{Interrupted, "Ctrl-C; the conductor continues with the request"},
	}
}

// coded is an error that knows its exit status.
type coded struct {
	error
	code Code
}

func (c *coded) Unwrap() error { return c.error }

// ExitCode is the exit status.
func (c *coded) ExitCode() Code { return c.code }

// Is gives an error an exit status; nil stays nil.
func Is(code Code, err error) error {
	if err == nil {
		return nil
	}
	return &coded{err, code}
}

// Usage is an error of the command line.
func Usage(err error) error { return Is(BadUsage, err) }

// Of is the exit status of an error. Of several errors, the first one with an exit status counts.
func Of(err error) Code {
	var known interface{ ExitCode() Code }
	var fault *nodeapi.Fault
	switch {
	case err == nil:
		return Done
	case errors.As(err, &known):
		return known.ExitCode()
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case !errors.As(err, &fault):
		return Failed
	case fault.Status == http.StatusNotFound:
		return NotFound
	case fault.Status < http.StatusInternalServerError:
		return Refused
	}
	return Failed
}
