package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Flag is --wait, with or without a time.
type Flag struct {
	On    bool
	Limit time.Duration
}

const defaultWait = time.Hour

// Add adds the flag to a command.
func (w *Flag) Add(cmd *cobra.Command) {
	flag := cmd.Flags().VarPF(w, "wait", "",
		"wait until it is done and show each step; --wait=10m gives up after ten minutes (default 1h)")
	flag.NoOptDefVal = defaultWait.String()
}

// String, Set and Type make it a flag.
func (w *Flag) String() string {
	if !w.On {
		return ""
	}
	return w.Limit.String()
}

// Set takes a duration; a bare number is seconds, as in other clients.
func (w *Flag) Set(s string) error {
	limit, err := time.ParseDuration(s)
	if err != nil {
		limit, err = time.ParseDuration(s + "s")
	}
	if err != nil || limit <= 0 {
		return fmt.Errorf("%q: expected a time like 10m, or seconds", s)
	}
	w.On, w.Limit = true, limit
	return nil
}

// Type names the value in help texts.
func (w *Flag) Type() string { return "time" }

// Goal says from a status whether a node is there, or will never be.
type Goal func(nodeapi.Status) (done bool, err error)

// ProvisionGoal is a provision state to end in.
func ProvisionGoal(state string) Goal {
	return func(st nodeapi.Status) (bool, error) {
		there, err := Wherever(st)
		return there && st.State == state && (st.Target == "" || st.Target == state), err
	}
}

// Wherever is any state to rest in, unless something went wrong on the way.
func Wherever(st nodeapi.Status) (bool, error) {
	switch rests, err := AtRest(st); {
	case strings.HasSuffix(st.State, " hold"): // it continues after unhold
		return false, &LandedError{st}
	case !rests || err != nil:
		return false, err
	case strings.HasSuffix(st.State, " failed"), st.State == "error", st.State == "enroll" && st.LastError != "":
		return false, &LandedError{st}
	}
	return true, nil
}

// AtRest is any state that does not end by itself, failed or not.
func AtRest(st nodeapi.Status) (bool, error) {
	return st.Activity == "" && !Waiting(st.State), nil
}

// Waiting reports whether a state leads on to another. Between two reads a node may have no activity in a state
// that leads on; Ironic shows no activities at all.
func Waiting(state string) bool {
	return strings.HasSuffix(state, "ing") || strings.HasSuffix(state, " wait") || state == "wait call-back"
}

// LandedError is a node that came to rest in another state than the wanted one.
type LandedError struct{ nodeapi.Status }

func (e *LandedError) Error() string {
	text := fmt.Sprintf("node %s is in state %s", label(e.Status), e.State)
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
	FirstPoll = 100 * time.Millisecond
	LastPoll  = time.Second
)

// FollowNodes shows the progress of a node until it is there.
func FollowNodes(ctx context.Context, s *client.Session, node string, g Goal, line *Line) error {
	defer line.Close()
	for poll := FirstPoll; ; poll = min(poll*3/2, LastPoll) {
		st, err := ReadStatus(ctx, s, node)
		if err != nil {
			return timedOut(ctx, node, line, err)
		}
		line.Show(st)
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

// timedOut says in which state a node was when the time was over.
func timedOut(ctx context.Context, node string, l *Line, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("node %s: %w; it was %s\n  the conductor continues: ferrite node status %s", node,
		context.Cause(ctx), l.Last, node)
}
