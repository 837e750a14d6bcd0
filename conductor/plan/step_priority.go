package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// StepPriorities are an operator's priorities of automatic steps, by INTERFACE.STEP. A step with 0 is only done when it
// is asked for.
type StepPriorities map[string]int

// ParsePriorities reads INTERFACE.STEP:PRIORITY, the form of Ironic's [conductor]clean_step_priority_override.
func ParsePriorities(entries []string) (StepPriorities, error) {
	all := StepPriorities{}
	for _, entry := range entries {
		name, priority, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if !nodeapi.IsStep(name) {
			return nil, fmt.Errorf("%q: expected INTERFACE.STEP:PRIORITY, such as deploy.erase_devices_express:95, with an "+
				"interface of %s", entry, strings.Join(nodeapi.StepInterfaces(), ", "))
		}
		number, err := strconv.ParseUint(priority, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q: the priority is %q, expected a number: 1 or more, the greater the earlier, or 0 for a "+
				"step that is only done when asked for", entry, priority)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%q: step %s has a priority already: give it one", entry, name)
		}
		all[name] = int(number)
	}
	return all, nil
}

// Check refuses priorities of steps that cannot be done automatically. offers are the steps of all enabled drivers. The
// steps of agents are not known, so an unknown clean step is refused only if it resembles one of the drivers.
func (p StepPriorities) Check(fw node.Framework, offers []node.StepOffer) error {
	known := map[string]node.StepOffer{}
	for _, o := range offers {
		if _, has := o.Priority[fw]; has {
			known[o.Interface+"."+o.Step] = o
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, name := range slices.Sorted(maps.Keys(p)) {
		kind, step, _ := strings.Cut(name, ".")
		offer, offered := known[name]
		meant := nodeapi.DidYouMean(name, names)
		switch {
		case reserved[step]:
			return fmt.Errorf("step %s is only done when it is asked for: leave it out, or have nodes cleaned with a "+
				"runbook", name)
		case !offered && (fw == node.VerifySteps || meant != "" && !slices.Contains(agentInterfaces, kind)):
			return fmt.Errorf("step %s is no %s step of any hardware type that is enabled%s; they have: %s", name, fw, meant,
				strings.Join(names, ", "))
		case !offered || p[name] == 0 || slices.Contains(agentInterfaces, kind):
			continue
		}
		if err := missing(offer.Args, node.Step{Interface: kind, Step: step}); err != nil {
			return fmt.Errorf("%w; only a runbook gives a step arguments", err)
		}
	}
	return nil
}

// priorities are the operator's priorities in a framework.
func (s Settings) priorities(fw node.Framework) StepPriorities {
	switch fw { //nolint:exhaustive // Ironic has none for deploy and service either
	case node.CleanSteps:
		return s.CleanPriorities
	case node.VerifySteps:
		return s.VerifyPriorities
	}
	return nil
}

// priority returns the priority of an automatic step: the operator's, or else its own.
func (s Settings) priority(fw node.Framework, kind, step string, own int) int {
	if p, set := s.priorities(fw)[kind+"."+step]; set {
		return p
	}
	return own
}

// prioritiesOf returns the priorities of a driver's step, the operator's where there are any.
func (s Settings) prioritiesOf(o node.StepOffer) map[node.Framework]int {
	all := maps.Clone(o.Priority)
	for fw, own := range all {
		all[fw] = s.priority(fw, o.Interface, o.Step, own)
	}
	return all
}

// noteUnknownPriorities records priorities that have no effect on this node because of a likely typing error. Others
// may be for other machines.
func (d *decision) noteUnknownPriorities(fw node.Framework, agent byAgent) {
	known := d.known(fw, agent)
	for _, name := range slices.Sorted(maps.Keys(d.f.Settings.priorities(fw))) {
		if near := nodeapi.Closest(name, known); near != "" && near != name {
			d.note("WARNING", fmt.Sprintf("the priority of step %s has no effect: neither agent nor BMC has the step (did you "+
				"mean %s?); see --clean-step-priority-override", name, near))
		}
	}
}
