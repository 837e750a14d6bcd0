package plan

import (
	"fmt"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// The bounds of a run. All of it is saved with each of its steps: the number of steps listed by an agent or operator,
// and the number of hardware managers that list them. Further: the number of times that the listing is repeated, and
// the bytes of a command's id, a manager's name and its version.
const (
	maxSteps    = 256
	maxManagers = 64
	maxRelisted = 3
	maxID       = 256
)

func count(agent byAgent) (n int) {
	for _, steps := range agent {
		n += len(steps)
	}
	return n
}

// stepsKnown puts the steps of the framework into the run, now that the
// agent's are known too.
func stepsKnown(d *decision, s agentapi.Steps) error {
	fw, agent := node.CleanSteps, byAgent(s.Clean)
	switch d.n.Run.Activity {
	case "deploy":
		fw, agent = node.DeploySteps, s.Deploy
	case "service":
		fw, agent = node.ServiceSteps, s.Service
	}
	if n := count(agent); n > maxSteps {
		return fmt.Errorf("the agent lists %d steps; at most %d are taken", n, maxSteps)
	}
	if err := checkVersions(s.Versions); err != nil {
		return err
	}
	d.n.Run.Versions = s.Versions
	d.keepAgentSteps(fw, agent, s.Versions)
	if err := d.place(agent); err != nil {
		d.endRun(err.Error())
		return nil
	}
	d.next()
	return nil
}

// checkVersions refuses versions that are too large to be saved with a run.
func checkVersions(managers map[string]string) error {
	if len(managers) > maxManagers {
		return fmt.Errorf("the agent lists the versions of %d hardware managers; at most %d are taken",
			len(managers), maxManagers)
	}
	for name, version := range managers {
		if len(name) > maxID || len(version) > maxID {
			return fmt.Errorf("the agent's hardware manager %.40q has version %.40q; at most %d bytes of each are taken", name,
				version, maxID)
		}
	}
	return nil
}

// place puts a framework's steps behind the current one. Listed steps of an operator keep their order; others are
// sorted by priority.
func (d *decision) place(agent byAgent) error {
	r := d.n.Run
	fw := node.Framework(r.Activity)
	switch {
	case fw == node.DeploySteps:
		return d.placeAround(agent)
	case r.Listed != nil:
		steps, err := d.resolve(fw, r.Listed, agent)
		if err != nil {
			return err
		}
		d.insert(r.Index+1, d.returnToRamdisk(steps)...)
	default:
		d.noteUnknownPriorities(fw, agent)
		d.insert(r.Index+1, d.automatic(fw, agent)...)
	}
	return nil
}

// commandAnswered takes the state of an agent command: just begun, still
// running, or over.
func commandAnswered(d *decision, res agentapi.Result) error {
	if len(res.ID) > maxID || (res.ID == "" && res.Status == agentapi.Running) {
		return fmt.Errorf("the agent's answer names no command that can be asked after: its id has %d bytes, "+
			"expected 1 to %d", len(res.ID), maxID)
	}
	r := d.n.Run
	d.n.Agent.LastCommand = res.ID
	switch res.Status {
	case agentapi.Running:
		r.Command = res.ID
		if err := d.goesOn(); err != nil {
			return err
		}
		d.await(fmt.Sprintf("the agent to finish %s", r.Current()))
	case agentapi.Succeeded:
		if err := d.raidByAgent(*r.Current(), res.Result); err != nil {
			return err
		}
		if err := d.eraseReported(*r.Current(), res.Result); err != nil {
			return err
		}
		d.stepDone()
	case agentapi.CleanVersionMismatch, agentapi.VersionMismatch:
		return d.stepsChanged()
	default:
		besides := d.eraseFailed(*r.Current(), res.Result)
		if res.Error != nil {
			return fmt.Errorf("%s%s%s", res.Error.Text(), grubRefused(*r.Current(), res.Error.Text()), besides)
		}
		return fmt.Errorf("the agent answered status %q without a reason%s", res.Status, besides)
	}
	return nil
}

// stepsChanged begins the agent's steps again, because another agent listed them: another ramdisk was booted in
// between. Ironic does so for automated cleaning only.
func (d *decision) stepsChanged() error {
	r := d.n.Run
	at := slices.IndexFunc(r.Steps, func(s node.Step) bool { return s.String() == getSteps })
	if r.Activity != "clean" || r.ByHand || at < 0 {
		return fmt.Errorf("another version of the agent listed the steps")
	}
	if r.Relisted++; r.Relisted > maxRelisted {
		return fmt.Errorf("the agent's version has changed %d times while it ran its steps", r.Relisted)
	}
	d.note("INFO", "the agent's version has changed: its steps are listed and run again")
	r.Steps = append(r.Steps[:at+1:at+1], endClean(d)...)
	endStep(r)
	r.Index = at
	d.advance()
	return nil
}
