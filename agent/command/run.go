package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// maxResults is how many results are kept; the oldest are forgotten first. A
// deploy makes about ten.
const maxResults = 200

// entry is one command that was started.
type entry struct {
	result agentapi.Result
	done   chan struct{} // closed when result is final
	after  func() error  // to be run behind the answer; nil when there is nothing to run
}

// runner starts commands, one at a time, and keeps their results.
type runner struct {
	ctx  context.Context // of async commands: they outlive their request
	opts Options

	mu      sync.Mutex
	entries []*entry
}

// start begins a command, unless one is running or there is no such command.
func (r *runner) start(c agentapi.Command) (*entry, error) {
	ext, name, err := c.Split()
	if err != nil {
		return nil, &HTTPError{http.StatusBadRequest, err.Error()}
	}
	e, cmd, err := r.admit(ext, name)
	if err != nil {
		return nil, err
	}
	run := func() error { return r.run(e, cmd, c) }
	if !cmd.Async {
		return e, run()
	}
	go func() { // ends with the command, which r.ctx cancels
		_ = run() // the error is in the result
		if r.opts.Done != nil {
			r.opts.Done()
		}
	}()
	return e, nil
}

// admit checks in ironic-python-agent's order, busy first, and makes the
// entry.
func (r *runner) admit(ext, name string) (*entry, Command, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.entries); n > 0 && (r.entries[n-1].result.Status == agentapi.Running || r.entries[n-1].after != nil) {
		text := "Agent is busy: executing command " + r.entries[n-1].result.Name
		return nil, Command{}, &HTTPError{http.StatusConflict, text}
	}
	commands, known := r.opts.Extensions[ext]
	if !known {
		return nil, Command{}, &HTTPError{http.StatusNotFound, fmt.Sprintf("Not found: Extension with id %s not found.", ext)}
	}
	cmd, known := commands[name]
	if !known {
		return nil, Command{}, &HTTPError{http.StatusBadRequest, "Invalid command: Unknown command: " + name}
	}
	e := &entry{done: make(chan struct{}), result: agentapi.Result{ID: uuid.NewString(), Name: name,
		Status: agentapi.Running, Began: time.Now().UTC()}}
	if len(r.entries) == maxResults {
		r.entries = r.entries[1:]
	}
	r.entries = append(r.entries, e)
	return e, cmd, nil
}

// run carries a command out and records how it ended.
func (r *runner) run(e *entry, cmd Command, c agentapi.Command) error {
	log := r.opts.Log.With("command", c.Name, "id", e.result.ID)
	log.Info("command started")
	if r.opts.Begun != nil {
		r.opts.Begun(c)
	}
	value, err := r.call(cmd, c)
	if r.opts.Ended != nil {
		r.opts.Ended(c, err)
	}
	if err == nil {
		if !cmd.Async {
			r.setAfter(e, cmd.After)
		}
		e.setResult(r, c, cmd.Async, value, nil)
		log.Info("command ended")
		return nil
	}
	var refusal *HTTPError
	if errors.As(err, &refusal) && !cmd.Async {
		r.forget(e)
		log.Info("command refused", "err", err)
		return refusal
	}
	e.setResult(r, c, cmd.Async, value, err)
	log.Warn("command failed", "err", err)
	return nil
}

// call guards against a command that panics: in process 1 that would take the
// machine down without a word.
func (r *runner) call(cmd Command, c agentapi.Command) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.opts.Log.Error("command panicked", "command", c.Name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s panicked: %v", c.Name, p)
		}
	}()
	return cmd.Run(r.ctx, c.Params)
}

// setResult records the end: a success, or a failure with the partial result, if any.
// It wraps text as ironic-python-agent does.
func (e *entry) setResult(r *runner, c agentapi.Command, async bool, value any, failure error) {
	if text, ok := value.(string); ok {
		if async {
			_, name, _ := c.Split()
			text = name + ": " + text
		}
		value = map[string]string{"result": text}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		raw, failure = nil, errors.Join(failure, fmt.Errorf("result of %s: %w", c.Name, err))
	}
	r.finish(e, func(res *agentapi.Result) {
		switch {
		case failure == nil:
			res.Status, res.Result = agentapi.Succeeded, raw
		case value == nil: // no result, rather than null
			res.Status, res.Error = statusOf(failure), errorOf(failure)
		default:
			res.Status, res.Error, res.Result = statusOf(failure), errorOf(failure), raw
		}
	})
}

func (r *runner) finish(e *entry, set func(*agentapi.Result)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	set(&e.result)
	e.result.Ended = time.Now().UTC()
	close(e.done)
}

func (r *runner) setAfter(e *entry, after func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.after = after
}

// follow runs the rest of a command after its answer. The command fails if that fails.
func (r *runner) follow(e *entry) {
	r.mu.Lock()
	after := e.after
	r.mu.Unlock()
	if after == nil {
		return
	}
	err := after()
	r.mu.Lock()
	defer r.mu.Unlock()
	e.after = nil
	if err != nil {
		r.opts.Log.Warn("command failed after its answer", "command", e.result.Name, "id", e.result.ID, "err", err)
		e.result.Status, e.result.Error, e.result.Result = statusOf(err), errorOf(err), nil
	}
}

// forget takes back the entry of a request that was refused after all.
func (r *runner) forget(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.entries {
		if r.entries[i] == e {
			r.entries = append(r.entries[:i], r.entries[i+1:]...)
			break
		}
	}
	close(e.done)
}

// result is a copy of an entry's current result.
func (r *runner) result(e *entry) agentapi.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.result
}

// results are all there are, oldest first.
func (r *runner) results() []agentapi.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]agentapi.Result, len(r.entries))
	for i, e := range r.entries {
		all[i] = e.result
	}
	return all
}

// find returns the entry with an id, nil when there is none.
func (r *runner) find(id string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		if e.result.ID == id {
			return e
		}
	}
	return nil
}

// VersionMismatch is the failure of a step that was planned for another
// version of this agent; its Type decides the status.
func VersionMismatch(status agentapi.Status, details string) error {
	return &mismatchError{status: status, details: details}
}

type mismatchError struct {
	status  agentapi.Status
	details string
}

func (e *mismatchError) Error() string { return e.details }

func statusOf(err error) agentapi.Status {
	var m *mismatchError
	if errors.As(err, &m) {
		return m.status
	}
	return agentapi.Failed
}

// errorOf is the command_error of an error: its own where it brought one.
func errorOf(err error) *agentapi.CommandError {
	var ce *agentapi.CommandError
	if errors.As(err, &ce) {
		return ce
	}
	var m *mismatchError
	if errors.As(err, &m) {
		return agentapi.NewCommandError("VersionMismatch", "Hardware managers version mismatch", m.details)
	}
	return agentapi.NewCommandError("CommandExecutionError", "Command execution failed", err.Error())
}
