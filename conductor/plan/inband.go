package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// writeImagePriority is where Ironic's own deploy step stands; the agent's
// steps above it come before the image, those below after it.
const writeImagePriority = 80

// What an agent may make of a run: that many steps listed, begun again so
// often, a command named by so many bytes.
const (
	maxSteps    = 256
	maxRelisted = 3
	maxID       = 256
)

func count(managers map[string][]agentapi.Step) (n int) {
	for _, steps := range managers {
		n += len(steps)
	}
	return n
}

// stepsKnown puts the agent's steps into the run.
func stepsKnown(d *decision, result json.RawMessage) error {
	var s agentapi.Steps
	if err := read(result, &s); err != nil {
		return err
	}
	r := d.n.Run
	at := r.Index + 1
	if n := count(s.Clean) + count(s.Deploy); n > maxSteps {
		return fmt.Errorf("the agent lists %d steps; at most %d are taken", n, maxSteps)
	}
	before, after := sorted(s.Clean), []node.Step(nil)
	if r.Activity == "deploy" {
		before, after = aroundImage(sorted(s.Deploy))
	}
	r.Steps = slices.Insert(r.Steps, at, before...)
	if len(after) > 0 {
		i := slices.IndexFunc(r.Steps, func(s node.Step) bool { return s.String() == "deploy.write_image" })
		r.Steps = slices.Insert(r.Steps, i+1, after...)
	}
	d.next()
	return nil
}

// aroundImage parts the agent's deploy steps around the image. Its write_image is
// the one the run already has.
func aroundImage(all []node.Step) (before, after []node.Step) {
	for _, s := range all {
		switch {
		case s.String() == "deploy.write_image":
		case s.Priority > writeImagePriority:
			before = append(before, s)
		default:
			after = append(after, s)
		}
	}
	return before, after
}

// tieBreak is Ironic's order of interfaces when priorities are equal, higher
// first.
var tieBreak = map[string]int{"vendor": 7, "power": 6, "management": 5, "firmware": 4, "deploy": 3, "bios": 2, "raid": 1}

// sorted flattens the managers' steps, drops those with priority 0 (they run
// only by request), keeps one of each name (the highest priority, then the
// first manager by name), and puts them in order.
func sorted(managers map[string][]agentapi.Step) []node.Step {
	best := map[string]node.Step{}
	names := make([]string, 0, len(managers))
	for m := range managers {
		names = append(names, m)
	}
	slices.Sort(names)
	for _, m := range names {
		for _, s := range managers[m] {
			st := node.Step{Interface: s.Interface, Step: s.Step, Args: s.Args, Priority: s.Priority, InBand: true, Abortable: s.Abortable, Reboot: s.RebootRequested}
			if old, ok := best[st.Step]; s.Priority > 0 && (!ok || s.Priority > old.Priority) {
				best[st.Step] = st
			}
		}
	}
	out := make([]node.Step, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b node.Step) int {
		return cmp.Or(b.Priority-a.Priority, tieBreak[b.Interface]-tieBreak[a.Interface], cmp.Compare(a.Step, b.Step))
	})
	return out
}

// commandAnswered takes the state of an agent command: just begun, still
// running, or over.
func commandAnswered(d *decision, result json.RawMessage) error {
	var res agentapi.Result
	if err := read(result, &res); err != nil {
		return err
	}
	if len(res.ID) > maxID || (res.ID == "" && res.Status == agentapi.Running) {
		return fmt.Errorf("the agent's answer names no command that can be asked after: its id has %d bytes, expected 1 to %d", len(res.ID), maxID)
	}
	r := d.n.Run
	d.n.Agent.LastCommand = res.ID
	switch res.Status {
	case agentapi.Running:
		r.Command = res.ID
		d.await(fmt.Sprintf("the agent to finish %s", r.Current()))
	case agentapi.Succeeded:
		d.stepSucceeded()
	case agentapi.CleanVersionMismatch, agentapi.VersionMismatch:
		return d.stepsChanged()
	default:
		if res.Error != nil {
			return fmt.Errorf("%s", res.Error.Text())
		}
		return fmt.Errorf("the agent answered status %q without a reason", res.Status)
	}
	return nil
}

func (d *decision) stepSucceeded() {
	r := d.n.Run
	d.work()
	if r.Current().Reboot {
		again := append(bootRamdisk(d), step("agent", "wait_for_heartbeat", nil))
		r.Steps = slices.Insert(r.Steps, r.Index+1, again...)
	}
	d.next()
}

// stepsChanged begins the agent's steps again: the agent is not the one that
// listed them (another ramdisk was booted in between).
func (d *decision) stepsChanged() error {
	r := d.n.Run
	at := slices.IndexFunc(r.Steps, func(s node.Step) bool { return s.String() == getSteps })
	if r.Activity != "clean" || at < 0 {
		return fmt.Errorf("the agent is not the one that listed its steps: its version has changed")
	}
	if r.Relisted++; r.Relisted > maxRelisted {
		return fmt.Errorf("the agent's version has changed %d times while it ran its steps", r.Relisted)
	}
	d.note("INFO", "the agent's version has changed: its steps are listed and run again")
	r.Steps = slices.DeleteFunc(r.Steps, func(s node.Step) bool { return s.InBand })
	r.Index = at
	d.advance()
	return nil
}
