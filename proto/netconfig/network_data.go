package netconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Path is where a ramdisk finds the network_data of its node.
const Path = "/etc/ferrite/network_data.json"

// MaxNetworkData bounds the text of network_data, in bytes.
const MaxNetworkData = 256 << 10

// networkData is the part of OpenStack's network_data.json that a ramdisk needs
// (Ironic's api/controllers/v1/network-data-schema.json).
type networkData struct {
	Links    []dataLink    `json:"links"`
	Networks []dataNetwork `json:"networks"`
	Services []dataService `json:"services"`
}

type dataLink struct {
	ID   string  `json:"id"`
	Type string  `json:"type"`
	MAC  string  `json:"ethernet_mac_address"`
	MTU  numeral `json:"mtu"`

	BondMode       word     `json:"bond_mode"`
	BondLinks      []string `json:"bond_links"`
	BondMonitor    numeral  `json:"bond_miimon"`           // Nova's, as the next
	BondHashPolicy string   `json:"bond_xmit_hash_policy"` //
	BondLACPRate   word     `json:"bond_lacp_rate"`        // cloud-init's

	VLANLink string  `json:"vlan_link"`
	VLANID   numeral `json:"vlan_id"`
	VLANMAC  string  `json:"vlan_mac_address"`
}

type dataNetwork struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Link     string        `json:"link"`
	Address  string        `json:"ip_address"`
	Netmask  word          `json:"netmask"`
	Gateway  string        `json:"gateway"` // Nova's
	Routes   []dataRoute   `json:"routes"`
	Services []dataService `json:"services"`
}

type dataRoute struct {
	Network  string        `json:"network"`
	Netmask  word          `json:"netmask"`
	Gateway  string        `json:"gateway"`
	Services []dataService `json:"services"`
}

type dataService struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

// NetworkData reads a node's network_data. Cards are found by their MAC addresses. The
// error names the member that is wrong.
func NetworkData(text []byte) (Plan, error) {
	if len(text) > MaxNetworkData {
		return Plan{}, fmt.Errorf("network_data has %d bytes: at most %d are read", len(text), MaxNetworkData)
	}
	var in networkData
	if err := json.Unmarshal(text, &in); err != nil {
		return Plan{}, fmt.Errorf("network_data: %w", formError(err))
	}
	if err := checkForm(text); err != nil {
		return Plan{}, err
	}
	var p Plan
	for i, l := range in.Links {
		link, err := l.link(i)
		if err != nil {
			return Plan{}, fmt.Errorf("links: %d (%.40q): %w", i, l.ID, err)
		}
		p.Links = append(p.Links, link)
	}
	p.nameLinks()
	for i, n := range in.Networks {
		if err := n.addTo(&p); err != nil {
			return Plan{}, fmt.Errorf("networks: %d (%.40q): %w", i, n.ID, err)
		}
	}
	if err := addServices(&p, in.Services); err != nil {
		return Plan{}, err
	}
	p.number()
	return p, p.Check()
}

// checkForm refuses a document of another form, such as netplan's: it would have no effect (coreos/afterburn#1238).
func checkForm(text []byte) error {
	var members map[string]any
	if json.Unmarshal(text, &members) != nil || len(members) == 0 {
		return nil
	}
	for _, key := range []string{"links", "networks", "services"} {
		if _, is := members[key]; is {
			return nil
		}
	}
	return fmt.Errorf("network_data: expected links, networks and services, as OpenStack has them; found %.100s",
		strings.Join(slices.Sorted(maps.Keys(members)), ", "))
}

func (l dataLink) link(i int) (Link, error) {
	out := Link{ID: l.ID}
	var err error
	if out.MTU, err = l.MTU.whole("mtu"); err != nil {
		return Link{}, err
	}
	key, mac := "ethernet_mac_address", l.MAC
	switch l.Type {
	case "bond":
		out.Kind = Bond
		if out.Bonding, err = l.bonding(); err != nil {
			return Link{}, err
		}
	case "vlan":
		out.Kind, out.Parent = VLAN, l.VLANLink
		if out.Tag, err = l.VLANID.whole("vlan_id"); err != nil {
			return Link{}, err
		}
		key, mac = "vlan_mac_address", l.VLANMAC
	default: // phy, null, and the kinds of a hypervisor's ports: a card to the machine
		if l.Type == "" && (l.VLANLink != "" || len(l.BondLinks) > 0) {
			return Link{}, errors.New("type is missing: expected vlan or bond")
		}
		out.Kind = Card
	}
	if mac == "" && out.Kind != Card { // it takes its first member's or its parent's address
		return out, nil
	}
	hw, err := net.ParseMAC(mac)
	if err != nil || len(hw) != 6 {
		return Link{}, fmt.Errorf("%s: %.40q is no MAC address", key, mac)
	}
	out.MAC = hw
	return out, nil
}

// bonding reads the options of a bond. Modes and rates may be the kernel's numbers.
func (l dataLink) bonding() (Bonding, error) {
	b := Bonding{Members: l.BondLinks, HashPolicy: l.BondHashPolicy}
	monitor, err := l.BondMonitor.whole("bond_miimon")
	b.MIIMonitor = cmp.Or(monitor, defaultMonitor)
	for _, o := range []struct{ key, value string }{{"mode", string(l.BondMode)}, {"lacp_rate", string(l.BondLACPRate)}} {
		if err == nil && o.value != "" {
			err = bondOption(&b, o.key+"="+o.value)
		}
	}
	if b.Mode == "802.1ad" { // as Ironic's schema has it, by mistake
		b.Mode = lacp
	}
	return b, err
}

// nameLinks names the interfaces of bonds and VLANs: the ids of network_data may be long,
// or the names of cards.
func (p *Plan) nameLinks() {
	bonds, used := 0, map[string]bool{}
	for i := range p.Links {
		l := &p.Links[i]
		switch l.Kind {
		case Bond:
			l.Name = fmt.Sprintf("bond%d", bonds)
			bonds++
		case VLAN:
			l.Name = fmt.Sprintf("vlan%d", l.Tag)
			if used[l.Name] { // the same tag on another link
				l.Name = fmt.Sprintf("vlan%d.%d", l.Tag, i)
			}
			used[l.Name] = true
		case Card:
		}
	}
}

// addTo adds a network's addresses and routes to its link.
func (n dataNetwork) addTo(p *Plan) error {
	at := -1
	for i, l := range p.Links {
		if l.ID == n.Link {
			at = i
		}
	}
	if at < 0 {
		return fmt.Errorf("link: there is no link %.40q", n.Link)
	}
	link := &p.Links[at]
	if err := addServices(p, n.Services); err != nil {
		return err
	}
	for i, r := range n.Routes {
		if err := addServices(p, r.Services); err != nil {
			return fmt.Errorf("routes: %d: %w", i, err)
		}
	}
	switch n.Type {
	case "ipv4_dhcp":
		link.DHCP = true
		return nil // its routes come with it
	case "ipv6_slaac", "ipv6_dhcpv6-stateless":
		return nil // the kernel does it on every link
	case "ipv6_dhcp":
		return errors.New("type: ipv6_dhcp: the ramdisk has no DHCPv6; expected ipv4, ipv4_dhcp, ipv6 or ipv6_slaac")
	case "ipv4", "ipv6":
	default:
		return fmt.Errorf("type: %.40q is unknown: expected ipv4, ipv4_dhcp, ipv6 or ipv6_slaac", n.Type)
	}
	address, err := prefixOf(n.Address, string(n.Netmask), n.Type == "ipv4")
	if err != nil {
		return fmt.Errorf("ip_address: %w", err)
	}
	link.Addresses = append(link.Addresses, address)
	if n.Gateway != "" {
		n.Routes = append(n.Routes,
			dataRoute{Network: netip.PrefixFrom(zero(address.Addr()), 0).String(), Gateway: n.Gateway})
	}
	for i, r := range n.Routes {
		to, err := prefixOf(r.Network, string(r.Netmask), n.Type == "ipv4")
		if err != nil {
			return fmt.Errorf("routes: %d: network: %w", i, err)
		}
		gateway, err := netip.ParseAddr(r.Gateway)
		if err != nil {
			return fmt.Errorf("routes: %d: gateway: %.60q is no address", i, r.Gateway)
		}
		// Two addresses of one subnet bring its routes twice: Nova describes each address as a network of its own.
		if route := (Route{To: to, Gateway: gateway}); !slices.Contains(link.Routes, route) {
			link.Routes = append(link.Routes, route)
		}
	}
	return nil
}

func addServices(p *Plan, services []dataService) error {
	for i, s := range services {
		if s.Type != "dns" {
			return fmt.Errorf("services: %d: type: %.40q is unknown: expected dns", i, s.Type)
		}
		a, err := netip.ParseAddr(s.Address)
		if err != nil {
			return fmt.Errorf("services: %d: address: %.60q is no address", i, s.Address)
		}
		p.DNS = append(p.DNS, a)
	}
	return nil
}

// zero is the unspecified address of the same family.
func zero(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// prefixOf reads an address with a mask, or with a length of its own.
func prefixOf(address, mask string, four bool) (netip.Prefix, error) {
	host, _, cut := strings.Cut(address, "/")
	a, err := netip.ParseAddr(host)
	if err != nil || a.Is4() != four || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("%.60q is no %s address", address, family(four))
	}
	if !cut && mask == "" {
		return netip.Prefix{}, fmt.Errorf("%.60q has no netmask", address)
	}
	var p netip.Prefix
	if cut {
		if p, err = netip.ParsePrefix(address); err != nil {
			return netip.Prefix{}, fmt.Errorf("%.60q is no %s address", address, family(four))
		}
	}
	if mask == "" {
		return p, nil
	}
	n, err := maskBits(mask, four)
	if err != nil {
		return netip.Prefix{}, err
	}
	if cut && p.Bits() != n {
		return netip.Prefix{}, fmt.Errorf("%.60q and netmask %.60q are of different lengths", address, mask)
	}
	return netip.PrefixFrom(a, n), nil
}

func family(four bool) string {
	if four {
		return "IPv4"
	}
	return "IPv6"
}

// maskBits counts the ones in front of a mask, which are all it has. It may be their number.
func maskBits(mask string, four bool) (int, error) {
	if n, err := strconv.Atoi(mask); err == nil && n >= 0 && n <= 128 && (!four || n <= 32) {
		return n, nil
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || m.Is4() != four || m.Zone() != "" {
		return 0, fmt.Errorf("netmask: %.60q is no %s network mask", mask, family(four))
	}
	n, ended := 0, false
	for _, b := range m.AsSlice() {
		ones := bits.LeadingZeros8(^b)
		if ended && b != 0 || b<<ones != 0 {
			return 0, fmt.Errorf("netmask: %.60q is no %s network mask: its ones are not all in front", mask, family(four))
		}
		n, ended = n+ones, ones < 8
	}
	return n, nil
}
