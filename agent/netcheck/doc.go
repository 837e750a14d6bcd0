// Package netcheck finds out why a machine with static addresses does not reach its conductor: no link, an address in
// use, a wrong router, a wrong VLAN, name servers or a conductor that do not answer.
//
// Judge is pure: observations in, findings out. Only Wire and Run touch the network. The package must not change
// addresses, and moves only the routes of dead routers.
package netcheck

import (
	"net/netip"
	"slices"
)

// Kind is a check. The constants are in the order of the checks: a failed check explains later failures.
type Kind string

// The checks.
const (
	Carrier   Kind = "link"
	Address   Kind = "address"
	Router    Kind = "router"
	DNS       Kind = "name server"
	Conductor Kind = "conductor"
)

// Finding is the result of one check.
type Finding struct {
	Check   Kind
	Subject string // "router 192.0.2.1 on eth0.100"
	OK      bool
	Reason  string // of a failure
	Remedy  string // of a failure: the next thing to do
}

// String is one line for a log or a screen.
func (f Finding) String() string {
	if f.OK {
		return f.Subject + ": answers"
	}
	return f.Subject + ": " + f.Reason + "; " + f.Remedy
}

// Link is an interface with static addresses.
type Link struct {
	Name      string // of the interface
	Base      string // the card or bond below a VLAN; else the same as Name
	Tag       int    // of a VLAN; 0 for none
	Carrier   bool
	MAC       MAC
	Addresses []netip.Prefix
	Routers   []netip.Addr // IPv4, best first
}

// Answer is the answer of a name server or of the conductor.
type Answer struct {
	Subject string // "192.0.2.53", or a URL
	Stage   string // how far it came: "TCP", "TLS" or "HTTP"; "" for name servers
	Err     error
}

// Observation is all that was seen in one round.
type Observation struct {
	Links     []Link
	Heard     map[string]*Heard // by the name of the base
	DNS       []Answer          // a single answer is enough
	Conductor []Answer          // for each URL; a single answer is enough
}

// Judge turns an observation into findings, in the order of the checks.
func Judge(o Observation) []Finding {
	var out []Finding
	for _, l := range o.Links {
		h := o.Heard[l.Base]
		if h == nil {
			h = NewHeard()
		}
		if !l.Carrier {
			out = append(out, Finding{Check: Carrier, Subject: "link " + l.Name, Reason: "no carrier",
				Remedy: "check the cable, the switch port and, of a bond, its LACP"})
			continue
		}
		out = append(out, Finding{Check: Carrier, Subject: "link " + l.Name, OK: true})
		out = append(out, addresses(l, h)...)
		for _, r := range l.Routers {
			out = append(out, router(l, h, r))
		}
	}
	if dns, ok := servers(o.DNS); ok {
		out = append(out, dns)
	}
	if c, ok := conductor(o.Conductor); ok {
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return order(a.Check) - order(b.Check) })
	return out
}

func order(k Kind) int { return slices.Index([]Kind{Carrier, Address, Router, DNS, Conductor}, k) }
