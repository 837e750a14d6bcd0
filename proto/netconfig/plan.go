package netconfig

import (
	"net"
	"net/netip"
)

// Kind is a kind of link.
type Kind string

// The kinds.
const (
	Card Kind = "card"
	Bond Kind = "bond"
	VLAN Kind = "vlan"
)

// Plan is how the network is to be. The zero value is none: DHCP on every card.
type Plan struct {
	Links []Link
	DNS   []netip.Addr
}

// Empty reports whether a plan asks for nothing.
func (p Plan) Empty() bool { return len(p.Links) == 0 && len(p.DNS) == 0 }

// Link is one network interface of a plan.
type Link struct {
	ID   string           // in the text it comes from: other links and messages name it
	Kind Kind             //
	Name string           // of the interface; "" for a card known by its MAC address alone
	MAC  net.HardwareAddr // a card: which one; others: the address it gets, nil for its first member's or parent's
	MTU  int              // 0: the kernel's choice

	Bonding Bonding // of a bond
	Parent  string  // of a VLAN: the ID of a card or bond
	Tag     int     // of a VLAN: 1 to 4094

	DHCP      bool // ask for an IPv4 address, beside the static ones
	Addresses []netip.Prefix
	Routes    []Route
}

// Addressed reports whether a link is to have an address of its own.
func (l Link) Addressed() bool { return l.DHCP || len(l.Addresses) > 0 }

// Bonding is how cards become one link (Linux's bonding.rst).
type Bonding struct {
	Mode       string   // see Modes
	Members    []string // IDs of cards
	MIIMonitor int      // how often members are looked at, in milliseconds
	HashPolicy string   // "" for the kernel's: how frames are spread over the members
	LACPRate   string   // "" for the kernel's, slow or fast
}

// Modes are the bonding modes, by the kernel's names.
func Modes() []string {
	return []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
}

// lacp is the mode of IEEE 802.3ad.
const lacp = "802.3ad"

// hashPolicies are the kernel's.
func hashPolicies() []string {
	return []string{"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"}
}

// defaultMonitor is the usual pause of the link monitor, without which a dead member
// goes on being used.
const defaultMonitor = 100

// Route is one way out of a link.
type Route struct {
	To      netip.Prefix
	Gateway netip.Addr
	Metric  int // unique among the default routes of a family, so that several can be set
}

// firstMetric is the metric of the first route. Such a route is preferred to routes by DHCP.
const firstMetric = 50

// Link finds a link by its ID.
func (p Plan) Link(id string) (Link, bool) {
	for _, l := range p.Links {
		if l.ID == id {
			return l, true
		}
	}
	return Link{}, false
}

// Modules are the kernel modules that a plan needs.
func (p Plan) Modules() []string {
	var bonds, vlans bool
	for _, l := range p.Links {
		bonds, vlans = bonds || l.Kind == Bond, vlans || l.Kind == VLAN
	}
	var names []string
	if bonds {
		names = append(names, "bonding")
	}
	if vlans {
		names = append(names, "8021q")
	}
	return names
}

// number gives the routes their metrics, in the order of the text.
func (p Plan) number() {
	metric := firstMetric
	for i := range p.Links {
		for j := range p.Links[i].Routes {
			p.Links[i].Routes[j].Metric = metric
			metric++
		}
	}
}
