package plan

import "github.com/ferrite-metal/ferrite/conductor/node"

// Need is what a decision on one event depends on besides the node and the facts that
// every decision gets. The zero value needs nothing.
type Need struct {
	// Addresses are the MAC addresses that the event may make ports of, for
	// Facts.Taken: the network card of a BMC has the same address in every machine
	// of some vendors.
	Addresses []string
	// Templates are names of deploy templates, for Facts.Templates: those of the
	// instance's traits.
	Templates []string

	Rules          bool   // Facts.Rules: the event may bring an inspection's findings
	LastWords      bool   // Facts.LastWords: an error may quote the machine's log
	HardwareReport bool   // Facts.HardwareReport
	Counts         bool   // Facts.Counts: a limit on nodes in some states holds
	Inventory      bool   // Facts.Inventory: the end of an unreported erase, or a deploy of an image of known size
	Bonds          bool   // Facts.Bonds: the event may be the end of a tear-down, which detaches VIFs
	System         string // Facts.SameSystem: the UUID by which the event names the node's machine
	Leased         bool   // Facts.Leased: an agent says for the first time where it can be called
}

// Needs says what a decision on an event depends on. The engine asks once, and
// gathers exactly that.
func Needs(n node.Node, e Event) Need {
	_, late := e.(Expired)
	return Need{
		Addresses:      NewAddresses(e),
		Templates:      templatesOf(n, e),
		Rules:          finds(e),
		LastWords:      late && n.Agent.TokenSent, // else the log is of another boot
		HardwareReport: needsHardwareReport(e),
		Counts:         limited(e),
		Inventory:      cutsErase(n, e) || sized(e),
		Bonds:          endsInstance(n, e),
		System:         SystemSaid(n, e),
		Leased:         needsLeases(n, e),
	}
}

// templatesOf is the names of the deploy templates that a deploy follows: the traits of
// the instance.
func templatesOf(n node.Node, e Event) (names []string) {
	r, ok := e.(Request)
	if !ok || r.Verb != node.Deploy && r.Verb != node.Rebuild {
		return nil
	}
	list, _ := n.InstanceInfo["traits"].([]any)
	for _, t := range list {
		if name, ok := t.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
