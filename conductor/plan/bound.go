package plan

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// An agent may call on time while its command hangs, and a BMC may report a new status of a step at every look. Only
// measured progress counts. A step has StepTimeout from its beginning and from each measured advance, and no more than
// StepLimit in all.

// goesOn notes that the step under way is not done yet. It returns an error if the step's time is over.
func (d *decision) goesOn() error {
	r := d.n.Run
	if r.StepSince.IsZero() {
		r.StepSince, r.StepMoved = d.now, d.now
	}
	if d.f.Progressed.After(r.StepMoved) {
		r.StepMoved = d.f.Progressed
	}
	return d.overdue()
}

// moved notes a driver's measured progress, and reports whether it has grown.
func (d *decision) moved(progress int) bool {
	r := d.n.Run
	if progress <= r.StepDone {
		return false
	}
	r.StepDone, r.StepMoved = progress, d.now
	return true
}

// stepEnd is when the step under way has had its time; zero when none is.
func (d *decision) stepEnd() time.Time {
	r := d.n.Run
	if r.StepSince.IsZero() {
		return time.Time{}
	}
	moved := r.StepMoved
	if d.f.Progressed.After(moved) {
		moved = d.f.Progressed
	}
	return earlier(moved.Add(d.f.Settings.StepTimeout), r.StepSince.Add(d.f.Settings.StepLimit))
}

// beforeStepEnd returns at, or the end of the current step's time if that is earlier.
func (d *decision) beforeStepEnd(at time.Time) time.Time {
	if end := d.stepEnd(); !end.IsZero() {
		return earlier(at, end)
	}
	return at
}

// overdue is the reason to give up the step under way, nil while it has time.
func (d *decision) overdue() error {
	r, s := d.n.Run, d.f.Settings
	end := d.stepEnd()
	if end.IsZero() || end.After(d.now) {
		return nil
	}
	bound := fmt.Sprintf("no step may go without measured progress for longer than %s (--step-timeout)", s.StepTimeout)
	if d.now.Sub(r.StepSince) >= s.StepLimit {
		bound = fmt.Sprintf("no step may take longer than %s (--step-limit)", s.StepLimit)
	}
	last := "it reported no progress"
	if d.f.Progressed.After(r.StepSince) { // else it is of a step before
		last = d.f.Progress
	}
	try := "see the machine's log and console, then begin again"
	if cur := r.Current(); cur != nil && cur.Driver {
		last = cmp.Or(r.Waiting, "the BMC said nothing of it")
		try = "look into the BMC's log and tasks, reset the BMC if it hangs, then begin anew"
	}
	return fmt.Errorf("it is not done %s after it was begun at %s, and %s; the last seen of it: %s; %s, or raise the "+
		"limit if the step needs so long",
		d.now.Sub(r.StepSince).Round(time.Second), r.StepSince.UTC().Format(time.DateTime+" MST"), bound, last, try)
}

// endStep forgets the times of a step that is over.
func endStep(r *node.Run) {
	r.Command, r.Task, r.Rebooted = "", "", 0
	r.StepSince, r.StepMoved, r.StepDone = time.Time{}, time.Time{}, 0
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
