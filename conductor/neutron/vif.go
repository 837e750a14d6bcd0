package neutron

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// plug is a port or a portgroup, as Neutron is told of it.
type plug struct {
	vif    string
	mac    string // "" for a portgroup without
	links  []map[string]any
	group  map[string]any // of a portgroup
	client string         // of InfiniBand
}

func clientID(p node.Port) string {
	id, _ := p.Extra["client-id"].(string)
	return id
}

// plugsOf are the ports and portgroups that have a VIF.
func plugsOf(ports []node.Port, groups []node.Portgroup) (all []plug) {
	for i := range ports {
		if p := &ports[i]; p.PortgroupUUID == "" {
			all = append(all, plug{vif: p.VIF(), mac: p.Address, links: []map[string]any{p.LocalLinkConnection},
				client: clientID(*p)})
		}
	}
	for i := range groups {
		g := &groups[i]
		one := plug{vif: g.VIF(), mac: g.Address, group: groupOf(g)}
		for _, p := range ports {
			if p.PortgroupUUID == g.UUID {
				one.links = append(one.links, p.LocalLinkConnection)
			}
		}
		all = append(all, one)
	}
	return slices.DeleteFunc(all, func(p plug) bool { return p.vif == "" })
}

// groupOf is the binding profile's local_group_information: what the switch needs to know of a bond.
func groupOf(g *node.Portgroup) map[string]any {
	properties := map[string]any{}
	for key, value := range g.Properties {
		if !strings.HasPrefix(key, "bond") {
			key = "bond_" + key
		}
		properties[key] = value
	}
	return map[string]any{"id": g.UUID, "name": g.Name, "bond_mode": g.Mode, "bond_properties": properties}
}

// bound is a port's binding to a machine.
func bound(n node.Node, p plug) map[string]any {
	profile := map[string]any{"local_link_information": p.links}
	if p.group != nil {
		profile["local_group_information"] = p.group
	}
	is := map[string]any{"binding:vnic_type": "baremetal", "binding:host_id": n.UUID, "binding:profile": profile}
	if p.mac != "" {
		is["mac_address"] = p.mac
	}
	if p.client != "" {
		is["extra_dhcp_opts"] = []map[string]any{{"opt_name": "61", "opt_value": p.client}} // RFC 2132, 9.14
	}
	return is
}

// bindAll binds the VIFs of a node to where its machine is plugged in.
func (c *Client) bindAll(ctx context.Context, n node.Node, plugs []plug, a *plan.Attached) error {
	if len(plugs) == 0 {
		return node.Refuse(node.Invalid, "no VIF is attached to node %s: attach one (openstack baremetal node vif attach), "+
			"or set another network_interface", n.UUID)
	}
	for _, p := range plugs {
		made, err := c.update(ctx, p.vif, bound(n, p))
		if err != nil {
			return err
		}
		doubt(made, p.mac, a)
	}
	return nil
}

// unbind takes a VIF off the machine. With ownMAC its MAC address becomes one of Neutron's again, in a request of its
// own: Neutron changes none of a port that is bound. A VIF that is no more needs nothing.
func (c *Client) unbind(ctx context.Context, vif string, ownMAC bool) error {
	_, err := c.update(ctx, vif, map[string]any{"binding:host_id": "", "binding:profile": map[string]any{}})
	if err == nil && ownMAC {
		_, err = c.update(ctx, vif, map[string]any{"mac_address": nil})
	}
	if gone(err) {
		return nil
	}
	return err
}

func (c *Client) update(ctx context.Context, vif string, to map[string]any) (port, error) {
	var answer struct {
		Port port `json:"port"`
	}
	err := c.call(ctx, http.MethodPut, "ports/"+vif, nil, map[string]any{"port": to}, &answer)
	return answer.Port, err
}

// Plug makes a VIF that was attached to a node have the address of its port, and binds it where the machine runs its
// owner's system.
func (c *Client) Plug(ctx context.Context, n node.Node, vif string, ports []node.Port, groups []node.Portgroup) error {
	all := plugsOf(ports, groups)
	i := slices.IndexFunc(all, func(p plug) bool { return p.vif == vif })
	if i < 0 {
		return nil
	}
	if n.ProvisionState == node.Active {
		_, err := c.update(ctx, vif, bound(n, all[i]))
		return err
	}
	if all[i].mac == "" {
		return nil
	}
	var found struct {
		Port port `json:"port"`
	}
	if err := c.call(ctx, http.MethodGet, "ports/"+vif, nil, nil, &found); err != nil {
		return err
	}
	if strings.EqualFold(found.Port.MAC, all[i].mac) {
		return nil
	}
	if found.Port.Host != "" { // by what it was attached to before
		if err := c.unbind(ctx, vif, false); err != nil {
			return err
		}
	}
	_, err := c.update(ctx, vif, map[string]any{"mac_address": all[i].mac})
	return err
}

// Unplug takes a VIF off the machine that it was detached from.
func (c *Client) Unplug(ctx context.Context, vif string) error {
	return c.unbind(ctx, vif, true)
}

// PhysicalNetworks are the physical networks of a VIF's network; none where it has none, and any port will do.
func (c *Client) PhysicalNetworks(ctx context.Context, vif string) (names []string, err error) {
	var found struct {
		Port port `json:"port"`
	}
	if err := c.call(ctx, http.MethodGet, "ports/"+vif, nil, nil, &found); err != nil {
		return nil, err
	}
	type segment struct {
		Physical string `json:"provider:physical_network"`
	}
	var network struct {
		Network struct {
			segment
			Segments []segment `json:"segments"`
		} `json:"network"`
	}
	if err := c.call(ctx, http.MethodGet, "networks/"+found.Port.NetworkID, nil, nil, &network); err != nil {
		return nil, err
	}
	for _, s := range append(network.Network.Segments, network.Network.segment) {
		if s.Physical != "" {
			names = append(names, s.Physical)
		}
	}
	return names, nil
}
