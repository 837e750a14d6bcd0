// Package command is the API the conductor commands the agent through: paths,
// tokens, statuses and faults as ironic-python-agent has them, one command at
// a time, results kept in the order the commands started.
//
// It must not know what any command does: those are given to it by name.
package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Func carries a command out. What it returns becomes the command_result; an
// error becomes the command_error, of the type a *agentapi.CommandError in it
// names; what is returned beside an error, the command_result of the failure,
// which Ironic does not look at. An *HTTPError refuses the request instead, where
// that is still possible.
type Func func(ctx context.Context, params json.RawMessage) (any, error)

// Command is one command an extension has.
type Command struct {
	Run Func
	// Async commands are answered at once as RUNNING; the others are answered
	// when they are done.
	Async bool
}

// Extension is commands by name.
type Extension map[string]Command

// Options is what a Server needs.
type Options struct {
	Extensions map[string]Extension
	Token      func() string // the token callers must have; empty: nobody may command
	OpenList   func() bool   // whether results are shown without a token
	Done       func()        // called when an async command has ended; may be nil
	// Begun is called when a command starts, Ended when one has ended, with how;
	// both may be nil.
	Begun   func(c agentapi.Command)
	Ended   func(c agentapi.Command, err error)
	Version string // of the agent
	Started time.Time
	Log     *slog.Logger
}

// HTTPError refuses a request.
type HTTPError struct {
	Status int
	Text   string // the faultstring
}

func (e *HTTPError) Error() string { return e.Text }

// fault is the refusal as it is sent.
func (e *HTTPError) fault() agentapi.Fault {
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return agentapi.Fault{Code: code, String: e.Text}
}

// InvalidParams is the failure of a command that was asked for what cannot be.
func InvalidParams(err error) *agentapi.CommandError {
	return &agentapi.CommandError{
		Type: "InvalidCommandParamsError", Code: http.StatusBadRequest,
		Message: "Invalid command params", Details: err.Error(),
	}
}
