package netconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// desiredState is the part of nmstate's YAML that a ramdisk can make (nmstate.io, YAML API).
type desiredState struct {
	Interfaces []stateInterface `json:"interfaces"`
	Routes     struct {
		Config []stateRoute `json:"config"`
	} `json:"routes"`
	DNS struct {
		Config struct {
			Server []string `json:"server"`
		} `json:"config"`
	} `json:"dns-resolver"`
}

type stateInterface struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	State string  `json:"state"`
	MAC   string  `json:"mac-address"`
	MTU   numeral `json:"mtu"`
	IPv4  stateIP `json:"ipv4"`
	IPv6  stateIP `json:"ipv6"`
	Bond  struct {
		Mode    string         `json:"mode"`
		Port    []string       `json:"port"`
		Ports   []string       `json:"ports"`  // the other spelling of the same
		Slaves  []string       `json:"slaves"` // until nmstate 1.0
		Options map[string]any `json:"options"`
	} `json:"link-aggregation"`
	VLAN struct {
		Base string  `json:"base-iface"`
		ID   numeral `json:"id"`
	} `json:"vlan"`
}

type stateIP struct {
	Enabled  bool `json:"enabled"`
	DHCP     bool `json:"dhcp"`
	Autoconf bool `json:"autoconf"`
	Address  []struct {
		IP     string  `json:"ip"`
		Length numeral `json:"prefix-length"`
	} `json:"address"`
}

type stateRoute struct {
	State       string `json:"state"`
	Destination string `json:"destination"`
	Gateway     string `json:"next-hop-address"`
	Interface   string `json:"next-hop-interface"`
	Metric      int    `json:"metric"`
}

// member is an object of network_data.
type member = map[string]any

// NMState makes network_data of the common part of nmstate, given as JSON: interfaces of type
// ethernet, bond and vlan, their addresses, routes and name servers. Cards are found by
// mac-address, as a ramdisk names its interfaces otherwise than the installed system. The
// error names the member that is wrong.
func NMState(text []byte) (networkData []byte, err error) {
	if len(text) > MaxNetworkData {
		return nil, fmt.Errorf("nmstate has %d bytes: at most %d are read", len(text), MaxNetworkData)
	}
	var s desiredState
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("nmstate: %w", formError(err))
	}
	s.Interfaces = slices.DeleteFunc(s.Interfaces, func(i stateInterface) bool {
		return i.Name == "lo" || i.State == "absent" || i.State == "down" || i.State == "ignore"
	})
	if len(s.Interfaces) == 0 {
		return nil, errors.New("nmstate: interfaces: expected at least one that is up")
	}
	links, networks := []member{}, []member{}
	for _, i := range s.Interfaces {
		link, err := s.link(i)
		if err != nil {
			return nil, fmt.Errorf("nmstate: interface %.40q: %w", i.Name, err)
		}
		own, err := i.networks()
		if err != nil {
			return nil, fmt.Errorf("nmstate: interface %.40q: %w", i.Name, err)
		}
		links, networks = append(links, link), append(networks, own...)
	}
	if err := s.addRoutes(networks); err != nil {
		return nil, err
	}
	services := []member{}
	for _, server := range s.DNS.Config.Server {
		services = append(services, member{"type": "dns", "address": server})
	}
	networkData, err = json.Marshal(member{"links": links, "networks": networks, "services": services})
	if err != nil {
		return nil, err
	}
	if _, err := NetworkData(networkData); err != nil {
		return nil, fmt.Errorf("nmstate: %w", err)
	}
	return networkData, nil
}

// link is the link of an interface.
func (s desiredState) link(i stateInterface) (member, error) {
	m := member{"id": i.Name}
	if i.MTU != 0 {
		m["mtu"] = i.MTU
	}
	switch i.Type {
	case "", "ethernet":
		m["type"], m["ethernet_mac_address"] = "phy", i.MAC
	case "bond":
		b := i.Bond
		members := slices.Concat(b.Port, b.Ports, b.Slaves)
		m["type"], m["bond_mode"], m["bond_links"] = "bond", b.Mode, members
		m["ethernet_mac_address"] = cmp.Or(i.MAC, s.mac(members))
		for option, value := range b.Options {
			switch text := fmt.Sprint(value); option { // nmstate takes numbers and their text
			case "miimon":
				n, err := strconv.Atoi(text)
				if err != nil {
					return nil, fmt.Errorf("link-aggregation.options.miimon: %.40q is no number of milliseconds", text)
				}
				m["bond_miimon"] = n
			case "xmit_hash_policy":
				m["bond_xmit_hash_policy"] = text
			case "lacp_rate":
				m["bond_lacp_rate"] = cmp.Or(map[string]string{"0": "slow", "1": "fast"}[text], text)
			default:
				return nil, fmt.Errorf("link-aggregation.options.%.40s is unknown: expected miimon, xmit_hash_policy or lacp_rate",
					option)
			}
		}
	case "vlan":
		m["type"], m["vlan_link"], m["vlan_id"] = "vlan", i.VLAN.Base, i.VLAN.ID
		m["vlan_mac_address"] = cmp.Or(i.MAC, s.mac([]string{i.VLAN.Base}))
	default:
		return nil, fmt.Errorf("type %.40q: a ramdisk makes ethernet, bond and vlan", i.Type)
	}
	for _, key := range []string{"ethernet_mac_address", "vlan_mac_address"} {
		if m[key] == "" {
			return nil, errors.New("mac-address is missing, by which a ramdisk finds the card")
		}
	}
	return m, nil
}

// mac is the address of the first of some interfaces that has one. A bond takes its members' address, a VLAN the
// address of the interface below it; "" for none.
func (s desiredState) mac(names []string) string {
	for depth := 0; depth < 2 && len(names) > 0; depth++ { // a VLAN on a bond on cards
		var below []string
		for _, name := range names {
			for _, i := range s.Interfaces {
				if i.Name != name {
					continue
				}
				if i.MAC != "" {
					return i.MAC
				}
				below = append(below, slices.Concat(i.Bond.Port, i.Bond.Ports, i.Bond.Slaves)...)
			}
		}
		names = below
	}
	return ""
}

// networks are an interface's addresses, a network each.
func (i stateInterface) networks() ([]member, error) {
	var out []member
	add := func(kind string, more member) {
		n := member{"id": fmt.Sprintf("%s-%d", i.Name, len(out)), "link": i.Name, "type": kind, "routes": []member{}}
		for key, value := range more {
			n[key] = value
		}
		out = append(out, n)
	}
	for _, f := range []struct {
		name string
		is   stateIP
	}{{"ipv4", i.IPv4}, {"ipv6", i.IPv6}} {
		switch {
		case !f.is.Enabled:
			continue
		case f.name == "ipv6" && f.is.Autoconf:
			add("ipv6_slaac", nil)
		case f.is.DHCP:
			add(f.name+"_dhcp", nil)
		}
		for at, a := range f.is.Address {
			ip, err := netip.ParseAddr(a.IP)
			length, wrong := a.Length.whole("prefix-length")
			if err != nil || wrong != nil || ip.Is4() != (f.name == "ipv4") || !netip.PrefixFrom(ip, length).IsValid() {
				return nil, fmt.Errorf("%s.address[%d]: %.60q with prefix-length %v is no address", f.name, at, a.IP, a.Length)
			}
			if !ip.IsLinkLocalUnicast() { // the kernel makes those by itself
				add(f.name, member{"ip_address": netip.PrefixFrom(ip, length).String()})
			}
		}
	}
	return out, nil
}

// addRoutes gives the routes to the first static network of their interface and family, the
// one with the lowest metric first.
func (s desiredState) addRoutes(networks []member) error {
	routes := slices.DeleteFunc(slices.Clone(s.Routes.Config), func(r stateRoute) bool { return r.State == "absent" })
	slices.SortStableFunc(routes, func(a, b stateRoute) int { return cmp.Compare(a.Metric, b.Metric) })
	for _, r := range routes {
		gateway, err := netip.ParseAddr(r.Gateway)
		if err != nil {
			return fmt.Errorf("nmstate: route to %.60q: next-hop-address %.60q is no address", r.Destination, r.Gateway)
		}
		kind := map[bool]string{true: "ipv4", false: "ipv6"}[gateway.Is4()]
		at := slices.IndexFunc(networks, func(n member) bool { return n["link"] == r.Interface && n["type"] == kind })
		if at < 0 {
			return fmt.Errorf("nmstate: route to %.60q: interface %.40q has no static %s address", r.Destination,
				r.Interface, kind)
		}
		list, _ := networks[at]["routes"].([]member)
		networks[at]["routes"] = append(list, member{"network": r.Destination, "gateway": r.Gateway})
	}
	return nil
}
