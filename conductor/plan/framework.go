package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// A framework's steps come from three sides: the conductor has the reserved
// ones, the BMC driver offers some, and the agent lists its own once it runs.

// reserved are the steps the conductor does itself, in every framework and under any interface (Ironic's reserved step
// names).
var reserved = map[string]bool{"hold": true, "wait": true, "power_on": true, "power_off": true, "reboot": true}

// byAgent is the agent's steps by name, as it listed them.
type byAgent map[string][]agentapi.Step

// driven reports whether the BMC driver is behind an interface of the node,
// rather than nothing or the agent.
func driven(n *node.Node, kind string) bool {
	is := n.Interfaces[kind]
	return is != "" && is != "agent" && !n.Idle(kind)
}

// offers are the driver's steps that the node can do in a framework.
func (d *decision) offers(fw node.Framework) []node.StepOffer {
	var out []node.StepOffer
	for _, o := range d.f.Offers {
		if _, ok := o.Priority[fw]; ok && driven(&d.n, o.Interface) && o.Refusal == "" {
			out = append(out, o)
		}
	}
	return out
}

// reprioritised gives the steps of an automated cleaning the operator's priorities instead of the agent's. Ironic has
// the same settings: two for erase steps in [deploy], and one for any step in [conductor], which counts. The same steps
// in an operator's own list need no priority.
func (d *decision) reprioritised(fw node.Framework, agent byAgent) byAgent {
	if fw != node.CleanSteps {
		return agent
	}
	priorities := map[string]int{"erase_devices": d.f.Settings.EraseDevicesPriority,
		"erase_devices_metadata": d.f.Settings.EraseMetadataPriority}
	out := byAgent{}
	for manager, steps := range agent {
		for _, s := range steps {
			if p, set := priorities[s.Step]; set && s.Interface == "deploy" {
				s.Priority = p
			}
			s.Priority = d.f.Settings.priority(fw, s.Interface, s.Step, s.Priority)
			out[manager] = append(out[manager], s)
		}
	}
	return out
}

// whoDoes marks one step with its executor; ok is false if there is none.
func (d *decision) whoDoes(fw node.Framework, s node.Step, agent byAgent) (done node.Step, ok bool, err error) {
	switch {
	case s.OnChildren: // the children find out
		return s, true, nil
	case reattaches(fw, s):
		return node.Step{Interface: s.Interface, Step: s.Step, From: s.From}, true, checkReattach(d.n, s)
	case reserved[s.Step]:
		if s.Step != "hold" && s.Step != "wait" {
			s.Interface = "power"
		}
		return s, true, checkReserved(d.n, s, d.f.Settings.StepLimit)
	}
	for _, o := range d.offers(fw) {
		if o.Interface == s.Interface && o.Step == s.Step {
			s.Driver, s.Abortable = true, o.Abortable
			return s, true, missing(o.Args, s)
		}
	}
	for _, manager := range slices.Sorted(maps.Keys(agent)) {
		for _, a := range agent[manager] {
			if a.Interface == s.Interface && a.Step == s.Step {
				s.InBand, s.Abortable, s.Reboot = true, a.Abortable, a.RebootRequested
				return s, true, nil
			}
		}
	}
	return s, false, nil
}

// checkReserved refuses a reserved step that the node is not to do, and a wait longer than limit. Arguments
// would reach the power effects, which have some of their own.
func checkReserved(n node.Node, s node.Step, limit time.Duration) error {
	args := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Args)), func(name string) bool {
		return s.Step == "wait" && name == waitSeconds
	})
	switch {
	case len(args) > 0 && s.Step == "wait":
		return node.Refuse(node.Invalid, "step wait has no argument %s; it has: %s", strings.Join(args, ", "), waitSeconds)
	case len(args) > 0:
		return node.Refuse(node.Invalid, "step %s takes no arguments, but was given %v: leave them out", s.Step, args)
	case s.Step == "power_off" && n.DisablePowerOff:
		return node.Refuse(node.Invalid,
			"step power_off cannot be done on node %s, which has disable_power_off set: use reboot", n.UUID)
	case s.Step != "wait":
		return nil
	}
	span, _, err := waitSpan(s)
	switch {
	case err != nil:
		return node.Refuse(node.Invalid, "%v", err)
	case limit > 0 && span > limit:
		return node.Refuse(node.Invalid, "step wait: seconds is %v, expected at most %.0f: no step may take longer than %s "+
			"(--step-limit)", s.Args[waitSeconds], limit.Seconds(), limit)
	}
	return nil
}

// missing refuses a step without the arguments it cannot do without.
func missing(args map[string]node.StepArg, s node.Step) error {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if args[name].Required && s.Args[name] == nil {
			return fmt.Errorf("step %s needs the argument %s: %s", named(s), name, args[name].Description)
		}
	}
	return nil
}

// known lists the steps of a framework, for people.
func (d *decision) known(fw node.Framework, agent byAgent) []string {
	names := map[string]bool{}
	for name := range reserved {
		names[name] = true
	}
	if fw == node.ServiceSteps && Neutron(d.n) {
		names[reattachNetworks] = true
	}
	for _, o := range d.offers(fw) {
		names[o.Interface+"."+o.Step] = true
	}
	for _, steps := range agent {
		for _, s := range steps {
			names[s.Interface+"."+s.Step] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// needsRamdisk reports whether steps that an operator has listed need an agent. The conductor's own steps do not, nor
// do driver steps that work in any condition of the machine.
func (d *decision) needsRamdisk(fw node.Framework, listed []node.Step) bool {
	return agentDeploy(d.n) && slices.ContainsFunc(listed, func(s node.Step) bool {
		if s.OnChildren || reattaches(fw, s) {
			return false
		}
		if reserved[s.Step] {
			return endsWithHeartbeat(s)
		}
		return !slices.ContainsFunc(d.offers(fw), func(o node.StepOffer) bool {
			return o.Interface == s.Interface && o.Step == s.Step && o.NeedsNoRamdisk
		})
	})
}

// inOrder returns the managers' steps in order. It drops steps with priority 0, which run only by request. Of steps
// with the same name it keeps the one with the highest priority, then of the first manager by name.
func inOrder(managers byAgent) []node.Step {
	best := map[string]node.Step{}
	for _, m := range slices.Sorted(maps.Keys(managers)) {
		for _, s := range managers[m] {
			st := node.Step{Interface: s.Interface, Step: s.Step, Args: s.Args, Priority: s.Priority, InBand: true,
				Abortable: s.Abortable, Reboot: s.RebootRequested}
			if old, ok := best[st.Step]; s.Priority > 0 && (!ok || s.Priority > old.Priority) {
				best[st.Step] = st
			}
		}
	}
	out := slices.Collect(maps.Values(best))
	sortSteps(out)
	return out
}
