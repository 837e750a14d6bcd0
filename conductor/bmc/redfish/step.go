package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// step is one act of the driver on a machine by its BMC. do is called again and again until it reports that it is done.
// It asks the BMC for the effect of earlier calls: it keeps between calls only facts that the BMC cannot report.
type step struct {
	offer  node.StepOffer
	driver string // the only hardware type with the step; "" for all
	do     func(r *stepCall) (node.StepReport, error)
}

// Steps lists redfish's steps, which need no ramdisk to reach the BMC. A BMC may lack some of them, and refuses those
// when they run.
func (d *Driver) Steps(n node.Node) []node.StepOffer {
	var all []node.StepOffer
	for _, s := range steps() {
		if s.driver != "" && s.driver != n.Driver {
			continue
		}
		if s.offer.Step == "verify_bmc_clock" {
			s.offer.Priority[node.VerifySteps] = d.clock
		}
		all = append(all, s.offer)
	}
	return all
}

// DoStep begins a step, or continues with one it answered task for.
//
// A BMC that falls silent in the middle of a step is waited for: many do while they restart
// or update themselves. A BMC that was never reached is an error.
func (d *Driver) DoStep(ctx context.Context, n node.Node, s node.Step,
	task string) (report node.StepReport, err error) {
	name := s.Interface + "." + s.Step
	var names []string
	for _, known := range steps() {
		offered := known.offer.Interface + "." + known.offer.Step
		if names = append(names, offered); offered != name {
			continue
		}
		m, err := recall(task)
		if err != nil {
			return node.StepReport{}, err
		}
		kept := m // for a failed call: an action that was accepted is not asked for again
		kept.Good = 0
		err = d.call(ctx, n, "do the step "+name, func(sess *session) error {
			r := &stepCall{session: sess, node: n, args: s.Args, memory: m, now: time.Now(), patience: d.patience,
				firmware: d.firmware}
			r.memory.Silent = time.Time{}
			report, err = known.do(r)
			if kept.Asked, kept.Stage, kept.Since = r.memory.Asked, r.memory.Stage, r.memory.Since; err == nil && report.Done {
				report.HardwareReport = r.reportAfter(s.Interface)
			}
			report.Note = clip(report.Note, maxError)
			return err
		})
		if err != nil {
			return d.bear(kept, err)
		}
		return report, nil
	}
	return node.StepReport{}, node.Refuse(node.Invalid, "redfish has no step %s: it has %s", name,
		strings.Join(names, ", "))
}

// bear decides whether a failure in the middle of a step is borne for now.
func (d *Driver) bear(m stepState, err error) (node.StepReport, error) {
	if m.Stage == "" || !failure(err) {
		return node.StepReport{}, err
	}
	r := &stepCall{memory: m, now: time.Now(), patience: d.patience}
	if r.memory.Silent.IsZero() {
		r.memory.Silent = r.now
	}
	if silent := r.now.Sub(r.memory.Silent); silent > r.patience {
		return node.StepReport{}, fmt.Errorf("no answer for %s in the middle of the step, reset the BMC by hand: %w",
			silent.Round(time.Second), err)
	}
	return r.wait("the BMC does not answer: " + clip(err.Error(), maxError))
}

// stepState is the state that a step keeps between calls, as the text that the engine gives back.
type stepState struct {
	Stage  string            `json:"stage"`
	Since  time.Time         `json:"since"`            // when the stage began
	Silent time.Time         `json:"silent,omitzero"`  // when the BMC fell silent
	Item   int               `json:"item,omitempty"`   // of several things to do
	Known  []string          `json:"known,omitempty"`  // tasks the BMC had before
	Task   string            `json:"task,omitempty"`   // the followed task
	Asked  []string          `json:"asked,omitempty"`  // requests made
	Seen   string            `json:"seen,omitempty"`   // note of the last wait
	Starts []string          `json:"starts,omitempty"` // tasks that a start of the machine was asked for
	Was    map[string]string `json:"was,omitempty"`    // values before
	Said   []string          `json:"said,omitempty"`   // notes to report at the end
	Lost   bool              `json:"lost,omitempty"`   // the task of an update is gone
	Good   int               `json:"good,omitempty"`   // good answers in a row of a BMC that settles
}

// recall reads the state from an earlier call's answer.
func recall(task string) (m stepState, err error) {
	if task == "" {
		return m, nil
	}
	err = json.Unmarshal([]byte(task), &m)
	if err != nil || m.Item < 0 {
		return m, broken("the memory of the step, %q, cannot be read (%v): begin the step anew", task, err)
	}
	return m, nil
}

// stepCall is one call of a step.
type stepCall struct {
	*session
	node     node.Node
	args     map[string]any
	memory   stepState
	now      time.Time
	patience time.Duration
	firmware FirmwareTimes
	progress int // for the report, where it can be measured
}

// pollAfter is the pause between two looks at a BMC.
const pollAfter = 5 * time.Second

// enter begins a stage.
func (r *stepCall) enter(stage string) { r.memory.Stage, r.memory.Since = stage, r.now }

// overdue reports whether the stage has lasted longer than the patience.
func (r *stepCall) overdue() bool { return r.now.Sub(r.memory.Since) > r.patience }

func (r *stepCall) report(p node.StepReport) (node.StepReport, error) {
	text, err := json.Marshal(r.memory)
	p.Task, p.Progress = string(text), r.progress
	return p, err
}

// wait asks to be called again in a while.
func (r *stepCall) wait(note string) (node.StepReport, error) {
	return r.report(node.StepReport{After: pollAfter, Note: note})
}

// watch is wait for work in progress. The patience starts anew whenever the note changes.
func (r *stepCall) watch(note string) (node.StepReport, error) {
	if note != r.memory.Seen {
		r.memory.Seen, r.memory.Since = note, r.now
	}
	if r.overdue() {
		return node.StepReport{}, broken("nothing has moved for %s: %s; look into the BMC's log, and clear its tasks",
			r.patience, note)
	}
	return r.wait(note)
}

// begin asks to be called again at once. The next act is recorded before it is done: after a conductor's death, the
// next call can distinguish its own tasks from older ones.
func (r *stepCall) begin(stage, note string) (node.StepReport, error) {
	r.enter(stage)
	return r.report(node.StepReport{Note: note})
}

// reboot asks for a power cycle before the next call.
func (r *stepCall) reboot(note string) (node.StepReport, error) {
	return r.report(node.StepReport{Reboot: true, Note: note})
}

func done(format string, args ...any) (node.StepReport, error) {
	return node.StepReport{Done: true, Note: fmt.Sprintf(format, args...)}, nil
}

// arguments reads the step's arguments into v, strictly: a misspelt one is an
// error, not a default.
func (r *stepCall) arguments(v any) error {
	text, err := json.Marshal(r.args)
	if err != nil {
		return err
	}
	return strictly(text, v, "the step's arguments")
}

// strictly decodes JSON that people wrote.
func strictly(text []byte, v any, what string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return broken("%s are wrong: %v", what, err)
	}
	return nil
}

// stepError is a step that cannot succeed as it is.
type stepError struct{ reason string }

func (e *stepError) Error() string { return e.reason }

// Permanent says that trying again does not help.
func (e *stepError) Permanent() bool { return true }

func broken(format string, args ...any) error { return &stepError{fmt.Sprintf(format, args...)} }
