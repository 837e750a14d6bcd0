// Package command is the agent's command API. Paths, tokens, statuses and faults are ironic-python-agent's. It runs
// one command at a time and keeps results in the order in which the commands started.
//
// It must not know the commands' work: commands are registered by name.
package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Func carries a command out. Its result becomes the command_result. An error becomes
// the command_error, of the type that a *agentapi.CommandError in it names. A result
// beside an error is the command_result of the failure, which Ironic ignores. An
// *HTTPError refuses the request instead, where that is still possible.
type Func func(ctx context.Context, params json.RawMessage) (any, error)

// Command is one command an extension has.
type Command struct {
	Run Func
	// Async commands are answered at once as RUNNING; the others are answered
	// when they are done.
	Async bool
	// After, if any, runs once a command that is not Async has succeeded and its answer
	// is on its way. If it fails, the command becomes a failed one. Meanwhile no other
	// command is taken.
	After func() error
}

// Extension is commands by name.
type Extension map[string]Command

// Options are the parts of a Server.
type Options struct {
	Extensions map[string]Extension
	Token      func() string // the token that callers must have; empty: no command is accepted
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

// fault is the refusal in its wire form.
func (e *HTTPError) fault() agentapi.Fault {
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return agentapi.Fault{Code: code, String: e.Text}
}

// InvalidParams is the failure of a command with impossible parameters.
func InvalidParams(err error) *agentapi.CommandError {
	return &agentapi.CommandError{
		Type: "InvalidCommandParamsError", Code: http.StatusBadRequest,
		Message: "Invalid command params", Details: err.Error(),
	}
}
