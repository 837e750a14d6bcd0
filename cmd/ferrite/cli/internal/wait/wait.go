// Package wait follows a request until its work ends, and shows the progress.
package wait

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
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

// Goal is where a node is to end.
type Goal struct {
	// Reached reports whether the node is at the goal. An error means that it cannot get there.
	Reached func(nodeapi.Status) (done bool, err error)
	// Result describes the node at the goal. Nil: its provision state.
	Result func(nodeapi.Status) string
	// Then prints advice for the next step, once the node has reached the goal. Nil: nothing.
	Then func(node string, say func(text string))
}

// text is the last line of a node.
func (g Goal) text(st nodeapi.Status) string {
	result := stateText(st.State)
	if g.Result != nil {
		result = g.Result(st)
	}
	return label(st) + " is " + result
}

// stateText is a state in a sentence: a machine is in rescue, but is active.
func stateText(state string) string {
	switch state {
	case "rescue", "enroll", "error":
		return "in " + state
	}
	if strings.HasSuffix(state, " hold") || strings.HasSuffix(state, " failed") || Waiting(state) {
		return "in state " + state
	}
	return state
}

// ProvisionGoal is a provision state to end in.
func ProvisionGoal(state string) Goal {
	return Goal{Reached: func(st nodeapi.Status) (bool, error) {
		there, err := Wherever(st)
		return there && st.State == state && (st.Target == "" || st.Target == state), err
	}}
}

// PowerGoal is a power state to end in.
func PowerGoal(power string) Goal {
	return Goal{
		Reached: func(st nodeapi.Status) (bool, error) {
			if st.TargetPower != "" || st.Activity == "power" {
				return false, nil
			}
			if st.Power == power {
				return true, nil
			}
			return false, &PowerError{st}
		},
		Result: func(st nodeapi.Status) string { return st.Power },
	}
}

// PowerError is a node with the wrong power state, which will not change any more.
type PowerError struct{ nodeapi.Status }

func (e *PowerError) Error() string {
	text := fmt.Sprintf("node %s is %s", label(e.Status), cmp.Or(e.Power, "in an unknown power state"))
	if e.LastError != "" {
		text += ": " + indented(e.LastError)
	}
	return text + "\n  try: ferrite node power status " + label(e.Status)
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
	return st.Activity == "" && st.TargetPower == "" && !Waiting(st.State), nil
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
	if strings.HasSuffix(e.State, " hold") {
		text = fmt.Sprintf("node %s is held: in state %s", label(e.Status), e.State)
	}
	if e.LastError != "" {
		text += ": " + indented(e.LastError)
	}
	if try := Next(e.Status); try != "" {
		text += "\n  try: " + try
	}
	return text
}

// ExitCode distinguishes a hold, which an operator has planned, from a failure.
func (e *LandedError) ExitCode() exit.Code {
	if strings.HasSuffix(e.State, " hold") {
		return exit.Held
	}
	return exit.Failed
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
