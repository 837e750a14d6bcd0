package netconfig

import (
	"fmt"
	"net/netip"
	"slices"
)

// Action is one kind of change of a link.
type Action string

// The actions.
const (
	Create     Action = "create"      // a bond, or a VLAN of Other
	SetMTU     Action = "set MTU of"  //
	Join       Action = "add to bond" // a card, switched off, becomes a member of Other
	SwitchOn   Action = "switch on"   //
	SetAddress Action = "set address of"
	SetRoute   Action = "set route of"
)

// Operation is one change. It can be done again without harm.
type Operation struct {
	Action  Action
	Link    Link         // which it changes
	Other   string       // ID of the link it is attached to
	Address netip.Prefix // of SetAddress
	Route   Route        // of SetRoute
}

// String is unique in a plan.
func (o Operation) String() string {
	s := fmt.Sprintf("%s %q", o.Action, o.Link.ID)
	switch o.Action {
	case Create, Join:
		if o.Other != "" {
			s += fmt.Sprintf(" on %q", o.Other)
		}
	case SetMTU:
		s += fmt.Sprintf(" to %d", o.Link.MTU)
	case SetAddress:
		s += " to " + o.Address.String()
	case SetRoute:
		s += fmt.Sprintf(" to %s by %s metric %d", o.Route.To, o.Route.Gateway, o.Route.Metric)
	case SwitchOn:
	}
	return s
}

// Operations lists the steps that make the planned network, in an order that works. Bonds come before their members,
// and a bond's MTU before members take it over. Links come before the VLANs on them, links are up before their
// addresses, and addresses come before routes. The operations of one link depend on each other, and on Other; a bond
// works with the members there are.
func (p Plan) Operations() []Operation {
	var out []Operation
	bondOf := map[string]string{}
	for _, l := range p.Links {
		if l.Kind == Bond {
			out = append(out, Operation{Action: Create, Link: l})
			out = appendMTU(out, l)
			for _, m := range l.Bonding.Members {
				bondOf[m] = l.ID
			}
		}
	}
	for _, kind := range []Kind{Card, Bond, VLAN} {
		for _, l := range p.Links {
			if l.Kind != kind {
				continue
			}
			switch {
			case kind == VLAN:
				out = append(out, Operation{Action: Create, Link: l, Other: l.Parent})
				out = appendMTU(out, l)
			case bondOf[l.ID] != "":
				out = append(out, Operation{Action: Join, Link: l, Other: bondOf[l.ID]})
			case kind == Card:
				out = appendMTU(out, l)
			}
			out = append(out, Operation{Action: SwitchOn, Link: l})
		}
	}
	for _, l := range p.Links {
		for _, a := range l.Addresses {
			out = append(out, Operation{Action: SetAddress, Link: l, Address: a})
		}
	}
	for _, l := range p.Links {
		for _, r := range l.Routes {
			out = append(out, Operation{Action: SetRoute, Link: l, Route: r})
		}
	}
	return slices.Clip(out)
}

func appendMTU(out []Operation, l Link) []Operation {
	if l.MTU == 0 {
		return out
	}
	return append(out, Operation{Action: SetMTU, Link: l})
}
