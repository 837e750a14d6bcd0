package netconfig

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// bootCard is the ID of the card that the machine was booted from. Where a parameter
// names no interface, it is meant; it may also be named.
const bootCard = "BOOTIF"

// KernelLine reads the network parameters of dracut.cmdline(7) on a kernel command line:
// ip, vlan, bond, nameserver, rd.route and ifname. boot is the MAC address of the card
// booted from, nil when not known. The error names the parameter. ip=dhcp without an
// interface asks for nothing: every card does that.
func KernelLine(cmdline string, boot net.HardwareAddr) (Plan, error) {
	l := &line{boot: boot, macs: map[string]net.HardwareAddr{}}
	words := strings.Fields(cmdline)
	for _, pass := range []map[string]func(string) error{
		{"ifname": l.ifname},
		{"bond": l.bond},
		{"vlan": l.vlan},
		{"ip": l.ip, "nameserver": l.nameserver},
		{"rd.route": l.route},
	} {
		for _, word := range words {
			key, value, _ := strings.Cut(word, "=")
			if read := pass[key]; read != nil && value != "" {
				if err := read(value); err != nil {
					return Plan{}, fmt.Errorf("kernel parameter %s=%.200s: %w", key, value, err)
				}
			}
		}
	}
	l.plan.number()
	if err := l.plan.Check(); err != nil {
		return Plan{}, fmt.Errorf("kernel parameters of the network: %w", err)
	}
	return l.plan, nil
}

// line is a plan in the making.
type line struct {
	plan Plan
	boot net.HardwareAddr
	macs map[string]net.HardwareAddr // by ifname
}

// link finds a link, or adds the card of that name.
func (l *line) link(id string) (*Link, error) {
	if id == "" {
		id = bootCard
	}
	for i := range l.plan.Links {
		if l.plan.Links[i].ID == id {
			return &l.plan.Links[i], nil
		}
	}
	card := Link{ID: id, Kind: Card, MAC: l.macs[id]}
	switch {
	case id == bootCard && l.boot == nil:
		return nil, errors.New("it names no interface, and there is no BOOTIF to say which the machine was booted from")
	case id == bootCard:
		card.MAC = l.boot
	case card.MAC == nil:
		card.Name = id
	}
	l.plan.Links = append(l.plan.Links, card)
	return &l.plan.Links[len(l.plan.Links)-1], nil
}

// ifname=NAME:MAC
func (l *line) ifname(v string) error {
	name, text, _ := strings.Cut(v, ":")
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 || name == "" {
		return errors.New("expected NAME:MAC")
	}
	if l.macs[name] != nil {
		return fmt.Errorf("the name %s is given twice", name)
	}
	l.macs[name] = mac
	return nil
}

// bond=NAME[:MEMBER,...[:OPTION=VALUE,...[:MTU]]]
func (l *line) bond(v string) error {
	fields := split(v)
	if len(fields) > 4 {
		return errors.New("expected NAME:MEMBER,MEMBER:OPTION=VALUE,...:MTU")
	}
	fields = append(fields, make([]string, 4-len(fields))...)
	out := Link{ID: fields[0], Kind: Bond, Name: fields[0],
		Bonding: Bonding{Mode: "balance-rr", MIIMonitor: defaultMonitor}}
	for option := range strings.SplitSeq(fields[2], ",") {
		if option == "" {
			continue
		}
		if err := bondOption(&out.Bonding, option); err != nil {
			return err
		}
	}
	var err error
	if out.MTU, err = number(fields[3]); err != nil {
		return fmt.Errorf("MTU: %w", err)
	}
	if fields[1] == "" {
		fields[1] = "eth0,eth1" // dracut's default
	}
	for member := range strings.SplitSeq(fields[1], ",") {
		card, err := l.link(member)
		if err != nil {
			return err
		}
		out.Bonding.Members = append(out.Bonding.Members, card.ID)
	}
	l.plan.Links = append(l.plan.Links, out)
	return nil
}

// bondOption reads one, by the kernel's names. A mode may be a number.
func bondOption(b *Bonding, option string) (err error) {
	key, value, _ := strings.Cut(option, "=")
	switch key {
	case "mode":
		b.Mode = value
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(Modes()) {
			b.Mode = Modes()[n]
		}
	case "miimon":
		b.MIIMonitor, err = number(value)
	case "xmit_hash_policy":
		b.HashPolicy = value
	case "lacp_rate":
		b.LACPRate = value
		if i := slices.Index([]string{"0", "1"}, value); i >= 0 {
			b.LACPRate = []string{"slow", "fast"}[i]
		}
	default:
		return fmt.Errorf("option %.40q is unknown: expected mode, miimon, xmit_hash_policy, lacp_rate", key)
	}
	if err != nil {
		return fmt.Errorf("option %s: %w", key, err)
	}
	return nil
}

// vlan=NAME:LINK. The tag is the number that the name ends in: vlan7, vlan0007, eth0.7.
func (l *line) vlan(v string) error {
	name, parent, ok := strings.Cut(v, ":")
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	tag, err := strconv.Atoi(digits)
	if !ok || parent == "" || err != nil {
		return errors.New("expected NAME:LINK, where NAME ends in the number of the VLAN, such as vlan7")
	}
	on, err := l.link(parent)
	if err != nil {
		return err
	}
	l.plan.Links = append(l.plan.Links, Link{ID: name, Kind: VLAN, Name: name, Parent: on.ID, Tag: tag})
	return nil
}

// automatic are the ways of ip= that bring an IPv4 address by DHCP.
func automatic(way string) bool {
	return slices.Contains([]string{"dhcp", "on", "any", "single-dhcp", "either"}, way)
}

// ip={dhcp|on|any}, ip=LINK:{dhcp|on|any}[:MTU] or
// ip=ADDRESS:[PEER]:GATEWAY:NETMASK:HOSTNAME:LINK:{none|off|dhcp}[:{MTU|DNS1[:DNS2]}]
func (l *line) ip(v string) error {
	if automatic(v) {
		return nil
	}
	fields := split(v)
	if _, err := netip.ParseAddr(fields[0]); err == nil || fields[0] == "" && len(fields) > 5 {
		return l.static(fields)
	}
	if len(fields) < 2 || len(fields) > 3 {
		return errors.New("expected dhcp, LINK:dhcp or ADDRESS::GATEWAY:NETMASK:HOSTNAME:LINK:none")
	}
	if !automatic(fields[1]) {
		return way(fields[1])
	}
	link, err := l.link(fields[0])
	if err != nil {
		return err
	}
	link.DHCP = true
	if len(fields) == 3 {
		if link.MTU, err = number(fields[2]); err != nil {
			return fmt.Errorf("MTU: %w", err)
		}
	}
	return nil
}

// way refuses a way of configuration.
func way(name string) error {
	return fmt.Errorf("%.40q is not possible here: expected dhcp, or none with an address", name)
}

func (l *line) static(fields []string) error {
	if len(fields) < 6 || len(fields) > 9 {
		return errors.New("expected ADDRESS::GATEWAY:NETMASK:HOSTNAME:LINK:none, and MTU or name servers")
	}
	fields = append(fields, make([]string, 9-len(fields))...)
	link, err := l.link(fields[5])
	if err != nil {
		return err
	}
	switch {
	case automatic(fields[6]):
		link.DHCP = true
	case fields[6] != "" && fields[6] != "none" && fields[6] != "off" && fields[6] != "static":
		return way(fields[6])
	}
	if fields[0] != "" {
		if err := addStatic(link, fields[0], fields[3], fields[2]); err != nil {
			return err
		}
	}
	if mtu, err := strconv.Atoi(fields[7]); err == nil {
		link.MTU = mtu
		return nil
	}
	for _, server := range fields[7:] {
		if server != "" {
			if err := l.nameserver(server); err != nil {
				return err
			}
		}
	}
	return nil
}

func addStatic(link *Link, address, mask, gateway string) error {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("%.60q is no address", address)
	}
	if n, err := strconv.Atoi(mask); err == nil {
		address, mask = fmt.Sprintf("%s/%d", address, n), ""
	}
	prefix, err := prefixOf(address, mask, a.Is4())
	if err != nil {
		return err
	}
	link.Addresses = append(link.Addresses, prefix)
	if gateway == "" {
		return nil
	}
	by, err := netip.ParseAddr(gateway)
	if err != nil {
		return fmt.Errorf("gateway %.60q is no address", gateway)
	}
	link.Routes = append(link.Routes, Route{To: netip.PrefixFrom(zero(a), 0), Gateway: by})
	return nil
}

func (l *line) nameserver(v string) error {
	a, err := netip.ParseAddr(strings.Trim(v, "[]"))
	if err != nil {
		return fmt.Errorf("name server %.60q is no address", v)
	}
	l.plan.DNS = append(l.plan.DNS, a)
	return nil
}

// rd.route=NETWORK/LENGTH:GATEWAY[:LINK]. Without a link the plan takes the link that reaches the gateway.
func (l *line) route(v string) error {
	fields := split(v)
	if len(fields) < 2 || len(fields) > 3 {
		return errors.New("expected NETWORK/LENGTH:GATEWAY:LINK")
	}
	to, err := netip.ParsePrefix(fields[0])
	if err != nil {
		return fmt.Errorf("%.60q is no network", fields[0])
	}
	gateway, err := netip.ParseAddr(fields[1])
	if err != nil {
		return fmt.Errorf("gateway %.60q is no address", fields[1])
	}
	for i := range l.plan.Links {
		link := &l.plan.Links[i]
		if len(fields) == 3 && fields[2] == link.ID || len(fields) == 2 && reaches(*link, gateway) {
			link.Routes = append(link.Routes, Route{To: to, Gateway: gateway})
			return nil
		}
	}
	return errors.New("no link with a static address reaches the gateway")
}

// number reads one; 0 for nothing.
func number(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%.40q is no number", s)
	}
	return n, nil
}

// split divides at colons outside of brackets, which are around IPv6 addresses and are
// taken away.
func split(v string) []string {
	fields, depth, part := []string{}, 0, strings.Builder{}
	for _, r := range v {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ':' && depth == 0:
			fields = append(fields, part.String())
			part.Reset()
		default:
			part.WriteRune(r)
		}
	}
	return append(fields, part.String())
}
