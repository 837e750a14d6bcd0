package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// activity is one kind of run. All are in the table activities. steps is the run's list; only of a deploy it is the
// conductor's own part. done and fail are called after the run r is over and removed from the node.
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

// startRun begins an activity as r asks for it, at the first of its steps. The generation is the revision about to be
// saved, so it never comes back.
func (d *decision) startRun(r node.Run) {
	r.Generation, r.Since = d.n.Revision+1, d.now
	d.n.Run = &r
	d.n.LastError = ""
	d.target()
	d.dirty = true
	steps, err := activities[r.Activity].steps(d)
	if err == nil && r.Activity == "deploy" {
		steps, err = d.amongOwn(steps) // by their priority
	}
	if err != nil {
		d.endRun(err.Error())
		return
	}
	d.n.Run.Steps = steps
	for _, check := range []func() error{
		d.checkBootPort,   // it would wait for ever: boot scripts are for the MAC addresses of ports
		d.checkBootMedium, // nothing would serve it
	} {
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

// amongOwn puts the further steps of a deploy among the conductor's own. If an agent is to list its steps, only the
// steps before the ramdisk are placed: placeAround places the others.
func (d *decision) amongOwn(own []node.Step) ([]node.Step, error) {
	if slices.ContainsFunc(own, func(s node.Step) bool { return s.String() == getSteps }) {
		early, err := d.deploySteps(nil, func(priority int) bool { return priority > atRamdisk })
		return append(early, own...), err
	}
	all, err := d.deploySteps(nil, func(int) bool { return true })
	return mergeSteps(own, all), err
}

// placeAround puts the steps of a deploy between the conductor's own, now that
// the agent's are known.
func (d *decision) placeAround(agent byAgent) error {
	steps, err := d.deploySteps(agent, func(priority int) bool { return priority <= atRamdisk })
	if err != nil {
		return err
	}
	for _, s := range steps {
		if needsAgent(s) && s.Priority <= atLeaving {
			return checkPlace(s)
		}
	}
	r := d.n.Run
	own := slices.DeleteFunc(slices.Clone(r.Steps[r.Index+1:]), func(s node.Step) bool { return s.InBand && listed(r, s) })
	rest := mergeSteps(own, d.returnToRamdisk(steps))
	r.Steps = append(r.Steps[:r.Index+1:r.Index+1], rest...)
	return nil
}

// deploySteps returns the steps beside the conductor's own: the automatic steps of driver and agent, and the steps that
// templates and the request ask for. A requested step replaces the automatic step of the same name; with priority 0 it
// only removes that. want selects priorities. It does not apply to the agent's automatic steps, which come as early as
// possible.
func (d *decision) deploySteps(agent byAgent, want func(priority int) bool) ([]node.Step, error) {
	steps := d.automatic(node.DeploySteps, agent)
	var asked []node.Step
	for _, s := range d.n.Run.Listed {
		if s.Priority > 0 && want(s.Priority) {
			asked = append(asked, s)
		}
	}
	asked, err := d.resolve(node.DeploySteps, asked, agent)
	if err != nil {
		return nil, err
	}
	steps = slices.DeleteFunc(steps, func(s node.Step) bool {
		return !s.InBand && !want(s.Priority) || s.String() == writeImage || listed(d.n.Run, s)
	})
	steps = append(steps, asked...)
	sortSteps(steps)
	return steps, nil
}

// automatic returns the steps of driver and agent with a priority other than 0, in order. They are done without a
// request. A step that both have is done by the driver.
func (d *decision) automatic(fw node.Framework, agent byAgent) []node.Step {
	steps := inOrder(d.reprioritised(fw, agent))
	for _, o := range d.offers(fw) {
		if p := d.f.Settings.priority(fw, o.Interface, o.Step, o.Priority[fw]); p > 0 {
			s := node.Step{Interface: o.Interface, Step: o.Step, Priority: p, Driver: true, Abortable: o.Abortable}
			steps = slices.DeleteFunc(steps, func(other node.Step) bool { return other.String() == s.String() })
			steps = append(steps, s)
		}
	}
	sortSteps(steps)
	return d.allowed(fw, steps)
}

// resolve finds the executor of each step that an operator has listed. A step without one is an error that lists the
// available steps.
func (d *decision) resolve(fw node.Framework, listed []node.Step, agent byAgent) ([]node.Step, error) {
	out := make([]node.Step, 0, len(listed))
	for _, s := range listed {
		done, ok, err := d.whoDoes(fw, s, agent)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errors.New(notOffered(d.n, fw, s, d.known(fw, agent)))
		}
		out = append(out, done)
	}
	return out, nil
}

// listed reports whether a run was asked for a step of this name.
func listed(r *node.Run, s node.Step) bool {
	return slices.ContainsFunc(r.Listed, func(l node.Step) bool { return l.String() == s.String() })
}

// mergeSteps puts each of more, which is in order, before the first of own
// with a lower priority. Own steps keep their order.
func mergeSteps(own, more []node.Step) []node.Step {
	out := make([]node.Step, 0, len(own)+len(more))
	for _, s := range own {
		for len(more) > 0 && more[0].Priority > s.Priority {
			out, more = append(out, more[0]), more[1:]
		}
		out = append(out, s)
	}
	return append(out, more...)
}

// tieBreak is Ironic's order of interfaces when priorities are equal, higher
// first.
var tieBreak = map[string]int{"network": 8, "vendor": 7, "power": 6, "management": 5, "firmware": 4, "deploy": 3,
	"bios": 2, "raid": 1}

// sortSteps puts steps in the order they are done in.
func sortSteps(steps []node.Step) {
	slices.SortStableFunc(steps, func(a, b node.Step) int {
		return cmp.Or(b.Priority-a.Priority, tieBreak[b.Interface]-tieBreak[a.Interface], cmp.Compare(a.Step, b.Step))
	})
}

// insert puts steps into the run, before the one at i.
func (d *decision) insert(i int, steps ...node.Step) {
	r := d.n.Run
	r.Steps = append(r.Steps[:i:i], append(steps, r.Steps[i:]...)...)
}
