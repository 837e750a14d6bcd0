package node

import (
	"maps"
	"reflect"
	"slices"
)

// How a machine is plugged in: the rules, Ironic's, that hold between a node,
// its ports and the portgroups these are members of.

// tenantVIF is the key of internal_info under which a port or portgroup keeps
// the VIF that is attached to it.
const tenantVIF = "tenant_vif_port_id"

// VIF is the virtual interface attached to a port, "" for none.
func (p *Port) VIF() string { return vifOf(p.InternalInfo) }

// SetVIF attaches a virtual interface, or detaches it with "".
func (p *Port) SetVIF(id string) { p.InternalInfo = withVIF(p.InternalInfo, id) }

// VIF is the virtual interface attached to a portgroup, "" for none.
func (g *Portgroup) VIF() string { return vifOf(g.InternalInfo) }

// SetVIF attaches a virtual interface, or detaches it with "".
func (g *Portgroup) SetVIF(id string) { g.InternalInfo = withVIF(g.InternalInfo, id) }

func vifOf(info map[string]any) string {
	id, _ := info[tenantVIF].(string)
	return id
}

// withVIF leaves info itself as it is.
func withVIF(info map[string]any, id string) map[string]any {
	info = maps.Clone(info)
	if info == nil {
		info = map[string]any{}
	}
	info[tenantVIF] = id
	if id == "" {
		delete(info, tenantVIF)
	}
	return info
}

// Networked reports whether the node's network interface cares for how ports
// are used; noop cares for nothing.
func (n *Node) Networked() bool { return !n.Idle("network") }

// rewirable reports whether the node's cabling may change: nothing relies on it.
func (n *Node) rewirable() bool {
	return n.Maintenance || slices.Contains([]State{Enroll, Inspecting, InspectWait, Manageable}, n.ProvisionState)
}

// Bond is a portgroup and the ports that are its members.
type Bond struct {
	Portgroup
	Members []Port
}

// CheckPort refuses a port p of the node n that breaks a rule. old is the stored port, nil for a new one; bond is the
// bond that it is, or will be, a member of.
func CheckPort(n Node, old *Port, p Port, bond *Bond) error {
	if old == nil && p.IsSmartNIC && !p.smartLink() {
		return Refuse(Invalid, "Smart NIC port must have port_id and hostname in local_link_connection")
	}
	if old != nil {
		if err := checkReplugged(n, *old, p); err != nil {
			return err
		}
	}
	if bond == nil {
		return nil
	}
	if bond.NodeUUID != p.NodeUUID {
		return Refuse(Invalid, "Port can not be added to a portgroup belonging to a different node.")
	}
	if err := checkStandalone(n, old, p, bond); err != nil {
		return err
	}
	return checkPhysicalNetwork(old, p, bond)
}

// checkReplugged refuses changes of cabling that a running instance relies on.
func checkReplugged(n Node, old, p Port) error {
	if old.Address != p.Address && (n.ProvisionState == Active || n.InstanceUUID != "") && !n.Maintenance {
		return Refuse(Conflict,
			"Cannot update hardware address for port %s as node %s is active or has instance UUID assigned", p.UUID, n.UUID)
	}
	changed := old.PXEEnabled != p.PXEEnabled || old.PortgroupUUID != p.PortgroupUUID ||
		old.PhysicalNetwork != p.PhysicalNetwork ||
		len(old.LocalLinkConnection)+len(p.LocalLinkConnection) > 0 &&
			!reflect.DeepEqual(old.LocalLinkConnection, p.LocalLinkConnection)
	if changed && !n.rewirable() {
		return Refuse(Conflict,
			"Port %s can not have any connectivity attributes (local_link_connection, pxe_enabled, portgroup_id, "+
				"physical_network) updated unless node %s is in a enroll, inspecting, inspect wait, manageable state or in "+
				"maintenance mode. The current state is %s.", p.UUID, n.UUID, n.ProvisionState)
	}
	return nil
}

// checkStandalone refuses a port in a bond without standalone ports, if that port boots or has a VIF of its own.
func checkStandalone(n Node, old *Port, p Port, bond *Bond) error {
	why := p.usedAlone("was")
	switch {
	case bond.StandalonePorts || why == "":
		return nil
	case old == nil:
		return Refuse(Conflict,
			"Port group %s doesn't support standalone ports. This port cannot be created as a member of that portgroup as the "+
				"port's 'pxe_enabled' field was set to True.", bond.UUID)
	case !n.Networked() || old.PXEEnabled == p.PXEEnabled && old.PortgroupUUID == p.PortgroupUUID && p.VIF() == "":
		return nil
	}
	return Refuse(Conflict,
		"Port group %s doesn't support standalone ports. This port %s cannot be a member of that port group because of: %s",
		bond.UUID, p.UUID, why)
}

// usedAlone names the uses of a port without the others of its bond, "" for none.
func (p *Port) usedAlone(was string) string {
	vif := "VIF " + p.VIF() + " is attached to the port"
	switch {
	case p.PXEEnabled && p.VIF() != "":
		return "'pxe_enabled' " + was + " set to True, " + vif
	case p.PXEEnabled:
		return "'pxe_enabled' " + was + " set to True"
	case p.VIF() != "":
		return vif
	}
	return ""
}

// checkPhysicalNetwork: all ports of a bond are in the same network.
func checkPhysicalNetwork(old *Port, p Port, bond *Bond) error {
	if old != nil && old.PortgroupUUID == p.PortgroupUUID && old.PhysicalNetwork == p.PhysicalNetwork {
		return nil
	}
	network := bond.PhysicalNetwork
	i := slices.IndexFunc(bond.Members, func(m Port) bool { return m.UUID != p.UUID })
	switch {
	case i >= 0:
		network = bond.Members[i].PhysicalNetwork
	case network == "":
		return nil
	}
	if network != p.PhysicalNetwork {
		return Refuse(Conflict,
			"Port with physical network %s cannot become a member of port group %s which has ports in physical network %s.",
			orNone(p.PhysicalNetwork), bond.UUID, orNone(network))
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "None"
	}
	return s
}

// CheckPortgroup refuses a change of a portgroup that breaks a rule. n is the node it then belongs to, old the stored
// portgroup.
func CheckPortgroup(n Node, old Portgroup, bond Bond) error {
	if old.NodeUUID != bond.NodeUUID {
		if !n.rewirable() {
			return Refuse(Conflict,
				"Portgroup %s can not be associated to node %s unless the node is in a enroll, inspecting, inspect wait, "+
					"manageable state or in maintenance mode. Current state is '%s'.", old.UUID, n.UUID, n.ProvisionState)
		}
		if len(bond.Members) > 0 {
			return Refuse(Invalid,
				"Portgroup %s can not be associated with node %s because there are ports associated with this portgroup.",
				old.UUID, n.UUID)
		}
	}
	if !old.StandalonePorts || bond.StandalonePorts || !n.Networked() {
		return nil
	}
	for i := range bond.Members {
		if why := bond.Members[i].usedAlone("is"); why != "" {
			return Refuse(Conflict,
				"standalone_ports_supported can not be set to False, because the port group %s contains port with %s",
				old.UUID, why)
		}
	}
	return nil
}

// Wired reports whether OpenStack's Neutron can learn the switch port of a port from its link data, or, for InfiniBand,
// from its client id.
func (p *Port) Wired() bool {
	id, _ := p.Extra["client-id"].(string)
	return !p.IsSmartNIC && (id != "" || len(p.LocalLinkConnection) > 0)
}

// smartLink: a smart NIC is plugged into a host, not a switch.
func (p *Port) smartLink() bool {
	_, port := p.LocalLinkConnection["port_id"].(string)
	_, host := p.LocalLinkConnection["hostname"].(string)
	return port && host
}
