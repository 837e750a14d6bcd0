package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// waitFlag is --wait, with or without a time.
type waitFlag struct {
	on    bool
	limit time.Duration
}

const defaultWait = time.Hour

func (w *waitFlag) add(cmd *cobra.Command) {
	flag := cmd.Flags().VarPF(w, "wait", "", "wait until it is done, saying what happens; --wait=10m gives up after ten minutes (default 1h)")
	flag.NoOptDefVal = defaultWait.String()
}

// String, Set and Type make it a flag.
func (w *waitFlag) String() string {
	if !w.on {
		return ""
	}
	return w.limit.String()
}

// Set takes a duration; a bare number is seconds, as in other clients.
func (w *waitFlag) Set(s string) error {
	limit, err := time.ParseDuration(s)
	if err != nil {
		limit, err = time.ParseDuration(s + "s")
	}
	if err != nil || limit <= 0 {
		return fmt.Errorf("%q: expected a time like 10m, or seconds", s)
	}
	w.on, w.limit = true, limit
	return nil
}

// Type names the value in help texts.
func (w *waitFlag) Type() string { return "time" }

// goal says from a status whether a node is there, or will never be.
type goal func(nodeapi.Status) (done bool, err error)

// provisionGoal is a provision state to end in.
func provisionGoal(state string) goal {
	return func(st nodeapi.Status) (bool, error) {
		there, err := wherever(st)
		return there && st.State == state && (st.Target == "" || st.Target == state), err
	}
}

// wherever is any state to rest in, unless something went wrong on the way.
func wherever(st nodeapi.Status) (bool, error) {
	switch rests, err := atRest(st); {
	case strings.HasSuffix(st.State, " hold"): // it goes on when somebody says so
		return false, &landedError{st}
	case !rests || err != nil:
		return false, err
	case strings.HasSuffix(st.State, " failed"), st.State == "error", st.State == "enroll" && st.LastError != "":
		return false, &landedError{st}
	}
	return true, nil
}

// atRest is any state that does not end by itself, failed or not.
func atRest(st nodeapi.Status) (bool, error) {
	return st.Activity == "" && !waiting(st.State), nil
}

// waiting: between two looks a node may be seen with no activity in a state
// that is on its way somewhere; Ironic tells of no activities at all.
func waiting(state string) bool {
	return strings.HasSuffix(state, "ing") || strings.HasSuffix(state, " wait") || state == "wait call-back"
}

// landedError is a node that has come to rest where it was not to go.
type landedError struct{ nodeapi.Status }

func (e *landedError) Error() string {
	text := fmt.Sprintf("node %s is %s", label(e.Status), e.State)
	if e.LastError != "" {
		text += ": " + e.LastError
	}
	if e.Try != "" {
		text += "\n  try: " + e.Try
	}
	return text
}

func label(st nodeapi.Status) string {
	if st.Name != "" {
		return st.Name
	}
	return st.Node
}

// Polling: often at first, because much is done at once, then every second.
const (
	firstPoll = 100 * time.Millisecond
	lastPoll  = time.Second
)

// follow tells what happens to a node until it is there.
func (s *session) follow(ctx context.Context, node string, g goal, line *line) error {
	defer line.close()
	for poll := firstPoll; ; poll = min(poll*3/2, lastPoll) {
		st, err := s.status(ctx, node)
		if err != nil {
			return timedOut(ctx, node, line, err)
		}
		line.show(st)
		done, err := g(st)
		if err != nil {
			return err
		}
		if done {
			line.finish(st)
			return nil
		}
		select {
		case <-ctx.Done():
			return timedOut(ctx, node, line, ctx.Err())
		case <-time.After(poll):
		}
	}
}

// timedOut says where a node stood when patience ended.
func timedOut(ctx context.Context, node string, l *line, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("node %s: %w; it was %s\n  it goes on without us: ferrite node status %s", node, context.Cause(ctx), l.last, node)
}
