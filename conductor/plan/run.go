package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// activity is one kind of run. All of them are in the table activities.
type activity interface {
	steps(d *decision) []node.Step
	done(d *decision)                 // all steps have succeeded
	fail(d *decision, reason string)  // a step has failed, or time ran out
	timeout(s Settings) time.Duration // the longest silence while waiting
}

// activities names what a conductor can do with a node. The agent knows the
// steps of clean and deploy under the same names.
var activities = map[string]activity{
	"verify":  verify{},
	"inspect": inspect{},
	"clean":   clean{},
	"deploy":  deploy{},
	"delete":  tearDown{},
}

// start begins an activity. The generation is the revision about to be saved,
// so it never comes back.
func (d *decision) start(name string) {
	d.n.Run = &node.Run{Activity: name, Generation: d.n.Revision + 1, Since: d.now}
	d.n.LastError = ""
	d.dirty = true
	d.n.Run.Steps = activities[name].steps(d)
	d.note("INFO", fmt.Sprintf("%s started", name))
	d.advance()
}

// advance owes the current step, or waits for it, or ends the run. It is
// called whenever Run.Index has come to a step that is not begun.
func (d *decision) advance() {
	r := d.n.Run
	r.Command, r.Waiting = "", ""
	for {
		s := r.Current()
		if s == nil {
			d.finish()
			return
		}
		if why, ok := waits[s.String()]; ok {
			if s.String() == waitHeartbeat && d.agentAlive() {
				r.Index++
				continue
			}
			d.await(why)
			return
		}
		d.work()
		if s.InBand {
			d.owe("agent.execute_step", *s)
		} else {
			d.owe(s.String(), s.Args)
		}
		return
	}
}

// next goes on to the following step.
func (d *decision) next() {
	d.n.Run.Index++
	d.advance()
}

// await enters the wait state of the activity and sets its deadline.
func (d *decision) await(why string) {
	if d.n.ProvisionState.Class() == node.Working {
		d.fire(node.Wait)
	}
	d.n.Run.Waiting = why
	d.n.Deadline = d.now.Add(d.timeout())
	d.dirty = true
}

// work leaves the wait state: our turn.
func (d *decision) work() {
	if d.n.ProvisionState.Class() == node.Waiting {
		d.fire(node.Resume)
	}
}

func (d *decision) timeout() time.Duration {
	return activities[d.n.Run.Activity].timeout(d.f.Settings)
}

func (d *decision) finish() {
	a := activities[d.n.Run.Activity]
	d.work()
	d.note("INFO", fmt.Sprintf("%s done in %s", d.n.Run.Activity, d.now.Sub(d.n.Run.Since).Round(100*time.Millisecond)))
	d.n.Run = nil
	a.done(d)
	d.dirty = true
}

// failRun ends the run with a reason. Nothing of it is left owed.
func (d *decision) failRun(reason string) {
	reason = Clip(reason)
	a := activities[d.n.Run.Activity]
	if s := d.n.Run.Current(); s != nil {
		reason = fmt.Sprintf("%s failed at step %s: %s", d.n.Run.Activity, s, reason)
	}
	d.n.LastError = reason
	d.note("ERROR", reason)
	d.n.Run = nil
	d.n.Agent.Doubted = d.n.Agent.URL != ""
	a.fail(d, reason)
	d.n.Deadline = time.Time{}
	d.dirty = true
}

// maxReason bounds what a machine can make us keep of its errors, in bytes.
const maxReason = 4096

// Clip makes of a reason what last_error and the history keep: without the
// credentials of the URLs in it, and not too long.
func Clip(reason string) string {
	reason = nodeapi.MaskText(reason)
	if len(reason) <= maxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:maxReason], "") + " ... (cut short)"
}

// agentAlive reports whether an agent of this boot has called lately enough
// to be given work without a boot. One that a run has failed with may still be
// at work on a command of that run: the next run boots afresh.
func (d *decision) agentAlive() bool {
	return d.n.Agent.URL != "" && !d.n.Agent.Doubted && !d.f.AgentSeen.IsZero() && d.n.PowerState == node.PowerOn &&
		d.now.Sub(d.f.AgentSeen) <= d.f.Settings.FastTrackTimeout
}
