package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// activity is one kind of run. All are in the table activities. done and fail are called after the run r is over and
// removed from the node.
type activity interface {
	steps(d *decision) ([]node.Step, error)      // an error fails the run before it has begun
	done(d *decision, r node.Run)                // all steps have succeeded
	fail(d *decision, r node.Run, reason string) // a step has failed, or time ran out
	timeout(s Settings) time.Duration            // the longest silence while waiting
}

// activities are the kinds of work that a conductor can do with a node. The agent and the drivers know the steps of
// verify, clean, deploy and service under the same names: they are Ironic's frameworks.
var activities = map[string]activity{
	"verify":   verify{},
	"inspect":  inspect{},
	"clean":    clean{},
	"deploy":   deploy{},
	"delete":   tearDown{},
	"adopt":    adopt{},
	"rescue":   rescue{},
	"unrescue": unrescue{},
	"service":  service{},
	"child":    child{},
}

// start begins an activity as the conductor itself wants it.
func (d *decision) start(name string) { d.startRun(node.Run{Activity: name}) }

// startRun begins an activity as r asks for it. The generation is the revision
// about to be saved, so it never comes back.
func (d *decision) startRun(r node.Run) {
	r.Generation, r.Since = d.n.Revision+1, d.now
	d.n.Run = &r
	d.n.LastError = ""
	d.target()
	d.dirty = true
	steps, err := activities[r.Activity].steps(d)
	if err != nil {
		d.endRun(err.Error())
		return
	}
	d.n.Run.Steps = steps
	for _, check := range []func() error{d.checkBootPort, d.checkBootMedium} {
		if err := check(); err != nil {
			d.endRun(err.Error())
			return
		}
	}
	d.note("INFO", fmt.Sprintf("%s started", r.Activity))
	for _, doubt := range r.Doubts {
		d.note("INFO", "warning: "+doubt)
	}
	d.advance()
}

// stepDone ends a step that the agent, the driver or another party has done, and goes on.
func (d *decision) stepDone() {
	r := d.n.Run
	if r.AbortAfter {
		d.endAborted()
		return
	}
	if s := r.Current(); s.InBand && s.Reboot {
		d.insert(r.Index+1, bootToAgent(d)...)
	}
	endStep(r)
	d.next()
}

// next goes on to the following step.
func (d *decision) next() {
	r := d.n.Run
	r.Index++
	r.Command, r.Switched = "", ""
	d.advance()
}

// advance enqueues the current step, or waits for it, or ends the run. It is called when Run.Index has come to a step
// that has not begun.
func (d *decision) advance() {
	r := d.n.Run
	r.Waiting = ""
	for {
		s := r.Current()
		if s == nil {
			d.finish()
			return
		}
		if needsAgent(*s) && d.n.Agent.URL == "" {
			d.insert(r.Index, bootToAgent(d)...)
			continue
		}
		if own(*s) && s.String() == kexecStep && !d.kexecs() {
			r.Index++
			continue
		}
		if pause := pauseFor(*s); pause != nil {
			if pause(d, *s) {
				return
			}
			r.Index++
			continue
		}
		d.work()
		d.begin(*s)
		return
	}
}

// begin enqueues the effect that does a step.
func (d *decision) begin(s node.Step) {
	switch {
	case s.OnChildren:
		d.enqueue(childrenEffect, s)
	case s.Driver:
		d.enqueue(driverEffect, DriverArgs{Step: s, Task: d.n.Run.Task})
	case s.InBand:
		d.enqueue("agent.execute_step", s)
	default:
		if bootsAnew(s) {
			d.n.Agent.Since = d.now
		}
		if s.String() == attachNetwork {
			d.entersNetwork(s)
		}
		d.mediumEnters(s)
		d.enqueue(s.String(), s.Args)
	}
}

// await enters the wait state of the activity and sets its deadline.
func (d *decision) await(why string) { d.awaitUntil(why, d.patience()) }

// patience is the time until which the party at work may be silent, and the step under way may last.
func (d *decision) patience() time.Time { return d.beforeStepEnd(d.now.Add(d.timeout())) }

func (d *decision) awaitUntil(why string, end time.Time) {
	if d.n.ProvisionState.Class() == node.Working {
		d.fire(node.Wait)
	}
	d.n.Run.Waiting = why
	d.n.Deadline = end
	d.dirty = true
}

// work leaves the wait state: our turn.
func (d *decision) work() {
	d.n.Deadline = time.Time{}
	if d.n.ProvisionState.Class() == node.Waiting {
		d.fire(node.Resume)
	}
}

func (d *decision) timeout() time.Duration {
	return activities[d.n.Run.Activity].timeout(d.f.Settings)
}

func (d *decision) finish() {
	if node.Row(d.n.ProvisionState, node.Done) == nil {
		d.work()
	}
	r := *d.n.Run
	d.note("INFO", fmt.Sprintf("%s done in %s%s", r.Activity, d.now.Sub(r.Since).Round(100*time.Millisecond),
		firmwareStarts(r)))
	d.n.Run = nil
	activities[r.Activity].done(d, r)
	d.dirty = true
}

// failRun ends the run because of the step it is at.
func (d *decision) failRun(reason string) {
	if s := d.n.Run.Current(); s != nil {
		reason = fmt.Sprintf("%s failed at step %s: %s", d.n.Run.Activity, named(*s), reason)
		if len(d.n.Run.Doubts) > 0 && s.String() == writeImage {
			reason += "; " + strings.Join(d.n.Run.Doubts, "; ")
		}
	}
	if d.n.Run.Switched != "" {
		reason += "; " + d.n.Run.Switched
	}
	d.endRun(reason)
}

// endRun ends the run with a reason. No effect of it is left pending.
func (d *decision) endRun(reason string) {
	reason = Clip(reason)
	d.n.LastError = reason
	d.note("ERROR", reason)
	r := *d.n.Run
	d.n.Run = nil
	d.n.Agent.Doubted = d.n.Agent.URL != ""
	activities[r.Activity].fail(d, r, reason)
	d.n.Deadline = time.Time{}
	d.dirty = true
}

// insert puts steps into the run, before the one at i.
func (d *decision) insert(i int, steps ...node.Step) {
	r := d.n.Run
	r.Steps = append(r.Steps[:i:i], append(steps, r.Steps[i:]...)...)
}

// maxReason bounds the kept text of a machine's error, in bytes.
const maxReason = 4096

// Clip returns a reason in the form for last_error and the history: without the credentials in URLs, without control
// characters, and not too long. BMCs and agents have written parts of it.
func Clip(reason string) string {
	reason = nodeapi.Printable(nodeapi.MaskText(reason))
	if len(reason) <= maxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:maxReason], "") + " ... (cut short)"
}

// agentAlive reports whether an agent of this boot has called recently enough to be given work without a boot. The
// agent of a failed run may still be at work on a command of that run: the next run boots afresh.
func (d *decision) agentAlive() bool {
	return d.n.Agent.URL != "" && !d.n.Agent.Doubted && !d.f.AgentSeen.IsZero() && d.n.PowerState == node.PowerOn &&
		d.now.Sub(d.f.AgentSeen) <= d.f.Settings.FastTrackTimeout
}
