package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// PhysicalNetwork is the physical network of ports with an address in a subnet (Ironic's inspection hook
// physical-network).
type PhysicalNetwork struct {
	Subnet netip.Prefix
	Name   string
}

// ParsePhysicalNetworks reads SUBNET:NAME, the form of Ironic's [inspector]physical_network_cidr_map.
func ParsePhysicalNetworks(entries []string) (all []PhysicalNetwork, err error) {
	for _, entry := range entries {
		at := strings.LastIndex(entry, ":") // an IPv6 subnet has some, too
		if at < 0 || strings.TrimSpace(entry[at+1:]) == "" {
			return nil, fmt.Errorf("%q: expected SUBNET:NAME, such as 10.10.10.0/24:physnet_a", entry)
		}
		subnet, err := netip.ParsePrefix(strings.TrimSpace(entry[:at]))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q: expected SUBNET:NAME, such as 10.10.10.0/24:physnet_a: %w", entry, err)
		case subnet != subnet.Masked():
			return nil, fmt.Errorf("%q: %s is no subnet: say %s", entry, subnet, subnet.Masked())
		case slices.ContainsFunc(all, func(o PhysicalNetwork) bool { return o.Subnet == subnet }):
			return nil, fmt.Errorf("%q: subnet %s has a physical network already", entry, subnet)
		}
		all = append(all, PhysicalNetwork{Subnet: subnet, Name: strings.TrimSpace(entry[at+1:])})
	}
	return all, nil
}

// setPhysicalNetworks sets physical_network of ports by the addresses of their interfaces.
func (d *decision) setPhysicalNetworks(ports []node.Port, interfaces []agentapi.Interface, networks []PhysicalNetwork) {
	for _, i := range interfaces {
		mac, _ := ethernet(i.MACAddress)
		name := physicalNetwork(i, networks)
		at := slices.IndexFunc(ports, func(p node.Port) bool { return p.Address == mac })
		if at < 0 || name == "" || ports[at].PhysicalNetwork == name {
			continue
		}
		if group := ports[at].PortgroupUUID; group != "" { // all of its ports have the same
			d.note("WARNING", fmt.Sprintf("physical_network of port %s stays %q, although its address is in %q: the port is "+
				"in port group %s", mac, ports[at].PhysicalNetwork, name, group))
			continue
		}
		ports[at].PhysicalNetwork = name
	}
}

// physicalNetwork finds the network of an interface, by its IPv4 address and then its IPv6 address; "" for none.
func physicalNetwork(i agentapi.Interface, networks []PhysicalNetwork) string {
	for _, address := range []string{i.IPv4Address, i.IPv6Address} {
		at, err := netip.ParseAddr(address)
		if err != nil { // none
			continue
		}
		for _, n := range networks {
			if n.Subnet.Contains(at.WithZone("")) {
				return n.Name
			}
		}
	}
	return ""
}
