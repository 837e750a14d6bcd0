package netconfig

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a plan.
const (
	maxLinks     = 64
	maxAddresses = 64 // and routes, of one link
	maxDNS       = 16
	minMTU       = 576
	minMTU6      = 1280 // RFC 8200
	maxMTU       = 65535
	usualMTU     = 1500
	maxTag       = 4094
	maxMonitor   = 60000
)

// interfaceName is a name that the kernel takes, and that needs no quoting anywhere.
var interfaceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,14}$`)

// Check returns the first thing of a plan that cannot be done. The error names the link.
func (p Plan) Check() error {
	if len(p.Links) > maxLinks {
		return fmt.Errorf("links: found %d, at most %d are possible", len(p.Links), maxLinks)
	}
	if len(p.DNS) > maxDNS {
		return fmt.Errorf("name servers: found %d, at most %d are possible", len(p.DNS), maxDNS)
	}
	for _, a := range p.DNS {
		if !a.IsValid() || a.IsUnspecified() || a.IsMulticast() {
			return fmt.Errorf("name server %s is no address of a host", a)
		}
	}
	for i, l := range p.Links {
		for _, check := range []func(Plan, Link) error{checkKind, checkMTU, checkAddresses, checkRoutes} {
			if err := check(p, l); err != nil {
				return fmt.Errorf("link %q: %w", l.ID, err)
			}
		}
		if err := checkUnique(p.Links[:i], l); err != nil {
			return fmt.Errorf("link %q: %w", l.ID, err)
		}
	}
	if len(p.Links) > 0 && !slices.ContainsFunc(p.Links, Link.Addressed) {
		return errors.New("no link has an IPv4 address by DHCP or a static address: the ramdisk would reach nothing")
	}
	return nil
}

// checkUnique compares a link with those before it.
func checkUnique(before []Link, l Link) error {
	for _, b := range before {
		switch {
		case b.ID == l.ID:
			return errors.New("its id is used twice: give each link one of its own")
		case b.Name != "" && b.Name == l.Name:
			return fmt.Errorf("the interface %s is already that of link %q", l.Name, b.ID)
		case b.Kind == Card && l.Kind == Card && len(l.MAC) > 0 && bytes.Equal(b.MAC, l.MAC):
			return fmt.Errorf("the MAC address %s is already that of link %q", l.MAC, b.ID)
		case b.Kind == VLAN && l.Kind == VLAN && b.Parent == l.Parent && b.Tag == l.Tag:
			return fmt.Errorf("VLAN %d of link %q is already link %q", l.Tag, l.Parent, b.ID)
		}
		for _, a := range l.Addresses {
			if slices.ContainsFunc(b.Addresses, func(o netip.Prefix) bool { return o.Addr() == a.Addr() }) {
				return fmt.Errorf("address %s is already that of link %q", a.Addr(), b.ID)
			}
		}
		if both := common(b, l); both != "" {
			return fmt.Errorf("link %q is already in bond %q", both, b.ID)
		}
	}
	return nil
}

// common is a member of two bonds; "" for none.
func common(a, b Link) string {
	for _, m := range a.Bonding.Members {
		if slices.Contains(b.Bonding.Members, m) {
			return m
		}
	}
	return ""
}

func checkKind(p Plan, l Link) error {
	switch {
	case l.ID == "":
		return errors.New("its id is empty")
	case l.Name != "" && (!interfaceName.MatchString(l.Name) || l.Name == "lo"):
		return fmt.Errorf("%.40q is no name for an interface: expected a letter, then at most 14 letters, digits, "+
			"dots, hyphens or underscores", l.Name)
	case len(l.MAC) > 0 && (len(l.MAC) != 6 || l.MAC[0]&1 == 1 || bytes.Equal(l.MAC, make([]byte, 6))):
		return fmt.Errorf("%s is no MAC address of a card", l.MAC)
	}
	switch l.Kind {
	case Card:
		if len(l.MAC) == 0 && l.Name == "" {
			return errors.New("it has neither a MAC address nor a name")
		}
		return nil
	case Bond:
		return checkBond(p, l)
	case VLAN:
		return checkVLAN(p, l)
	}
	return fmt.Errorf("its kind %q is unknown", l.Kind)
}

func checkBond(p Plan, l Link) error {
	b := l.Bonding
	switch {
	case !slices.Contains(Modes(), b.Mode):
		return fmt.Errorf("bonding mode %.40q is unknown: expected one of %s", b.Mode, strings.Join(Modes(), ", "))
	case b.HashPolicy != "" && !slices.Contains(hashPolicies(), b.HashPolicy):
		return fmt.Errorf("hash policy %.40q is unknown: expected one of %s", b.HashPolicy,
			strings.Join(hashPolicies(), ", "))
	case b.LACPRate != "" && (b.Mode != lacp || b.LACPRate != "slow" && b.LACPRate != "fast"):
		return fmt.Errorf("LACP rate %.40q: expected slow or fast, in mode %s", b.LACPRate, lacp)
	case b.MIIMonitor < 1 || b.MIIMonitor > maxMonitor:
		return fmt.Errorf("link monitor each %d ms: expected 1 to %d", b.MIIMonitor, maxMonitor)
	case len(b.Members) == 0:
		return errors.New("it is a bond of no links")
	}
	for i, id := range b.Members {
		m, ok := p.Link(id)
		switch {
		case !ok:
			return fmt.Errorf("it is a bond of link %.40q, which is not there", id)
		case m.Kind != Card:
			return fmt.Errorf("it is a bond of link %q, which is a %s: a bond is made of cards", id, m.Kind)
		case slices.Contains(b.Members[:i], id):
			return fmt.Errorf("it names link %q twice", id)
		case m.Addressed():
			return fmt.Errorf("link %q is a member and has an address of its own: give it to the bond", id)
		}
	}
	return nil
}

func checkVLAN(p Plan, l Link) error {
	parent, ok := p.Link(l.Parent)
	switch {
	case l.Tag < 1 || l.Tag > maxTag:
		return fmt.Errorf("VLAN %d: expected 1 to %d", l.Tag, maxTag)
	case !ok:
		return fmt.Errorf("it is a VLAN of link %.40q, which is not there", l.Parent)
	case parent.Kind == VLAN:
		return fmt.Errorf("it is a VLAN of VLAN %q: expected a card or a bond", l.Parent)
	}
	for _, b := range p.Links {
		if slices.Contains(b.Bonding.Members, l.Parent) {
			return fmt.Errorf("it is a VLAN of link %q, a member of bond %q: take the bond", l.Parent, b.ID)
		}
	}
	return nil
}

func checkMTU(p Plan, l Link) error {
	least := minMTU
	for _, a := range l.Addresses {
		if a.Addr().Is6() {
			least = minMTU6
		}
	}
	if l.MTU != 0 && (l.MTU < least || l.MTU > maxMTU) {
		return fmt.Errorf("mtu %d: expected %d to %d", l.MTU, least, maxMTU)
	}
	parent, _ := p.Link(l.Parent)
	if l.Kind == VLAN && l.MTU > max(parent.MTU, usualMTU) {
		return fmt.Errorf("mtu %d is more than the %d of link %q: raise that too", l.MTU, max(parent.MTU, usualMTU), l.Parent)
	}
	return nil
}

func checkAddresses(_ Plan, l Link) error {
	if len(l.Addresses) > maxAddresses || len(l.Routes) > maxAddresses {
		return fmt.Errorf("%d addresses and %d routes: at most %d of each are possible", len(l.Addresses), len(l.Routes),
			maxAddresses)
	}
	for i, a := range l.Addresses {
		ip := a.Addr()
		if !a.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLoopback() || ip.Is4In6() || a.Bits() == 0 {
			return fmt.Errorf("%s is no address of a host in its network", a)
		}
		if end := lastOf(a); ip.Is4() && a.Bits() < 31 && (ip == a.Masked().Addr() || ip == end) {
			return fmt.Errorf("%s is the first or last address of its network, %s to %s: no host can have it", a,
				a.Masked().Addr(), end)
		}
		if slices.ContainsFunc(l.Addresses[:i], func(o netip.Prefix) bool { return o.Addr() == ip }) {
			return fmt.Errorf("address %s is there twice", ip)
		}
	}
	return nil
}

// lastOf is the last address of an IPv4 network: of broadcasts.
func lastOf(p netip.Prefix) netip.Addr {
	if !p.Addr().Is4() {
		return netip.Addr{}
	}
	b := p.Addr().As4()
	for i := range b {
		b[i] |= byte(0xff >> min(max(p.Bits()-8*i, 0), 8))
	}
	return netip.AddrFrom4(b)
}

func checkRoutes(_ Plan, l Link) error {
	for i, r := range l.Routes {
		switch {
		case !r.To.IsValid() || !r.Gateway.IsValid() || r.To.Addr().Is4() != r.Gateway.Is4():
			return fmt.Errorf("route to %s by %s: expected a network and a gateway, both IPv4 or both IPv6", r.To, r.Gateway)
		case r.To != r.To.Masked():
			return fmt.Errorf("route to %s: this is an address in a network, expected %s", r.To, r.To.Masked())
		case r.Gateway.IsUnspecified() || r.Gateway.IsMulticast() || r.Gateway.IsLoopback():
			return fmt.Errorf("route to %s: %s is no gateway", r.To, r.Gateway)
		case len(l.Addresses) == 0:
			return fmt.Errorf("route to %s: the link has no static address", r.To)
		case slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Addr() == r.Gateway }):
			return fmt.Errorf("route to %s: gateway %s is the link's own address", r.To, r.Gateway)
		case slices.ContainsFunc(l.Routes[:i], func(o Route) bool { return o.To == r.To && o.Gateway == r.Gateway }):
			return fmt.Errorf("route to %s by %s is there twice", r.To, r.Gateway)
		case !reaches(l, r.Gateway):
			return fmt.Errorf("route to %s: gateway %s is in none of the link's networks: correct the gateway, or the netmask",
				r.To, r.Gateway)
		}
	}
	return nil
}

// reaches reports whether a gateway can be a neighbour. Some hosters want a gateway outside for an address that is
// alone in its network.
func reaches(l Link, gateway netip.Addr) bool {
	return gateway.Is6() && gateway.IsLinkLocalUnicast() || slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool {
		return a.Addr().Is4() == gateway.Is4() && a.Addr() != gateway && (a.IsSingleIP() || a.Contains(gateway))
	})
}
