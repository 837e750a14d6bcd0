package neutron

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// plug is a port or a portgroup, in the form that Neutron gets.
type plug struct {
	vif    string
	mac    string // "" for a portgroup without
	links  []map[string]any
	fabric string         // the physical network, "" for none
	group  map[string]any // of a portgroup
	client string         // of InfiniBand
}

func clientID(p node.Port) string {
	id, _ := p.Extra["client-id"].(string)
	return id
}

// plugsOf are the ports and portgroups that have a VIF. A port of a portgroup may have one of its own.
func plugsOf(ports []node.Port, groups []node.Portgroup) (all []plug) {
	for i := range ports {
		p := &ports[i]
		all = append(all, plug{vif: p.VIF(), mac: p.Address, links: []map[string]any{p.LocalLinkConnection},
			fabric: p.PhysicalNetwork, client: clientID(*p)})
	}
	for i := range groups {
		g := &groups[i]
		one := plug{vif: g.VIF(), mac: g.Address, fabric: g.PhysicalNetwork, group: groupOf(g)}
		for _, p := range ports {
			if p.PortgroupUUID == g.UUID {
				one.links, one.fabric = append(one.links, p.LocalLinkConnection), cmp.Or(one.fabric, p.PhysicalNetwork)
			}
		}
		all = append(all, one)
	}
	return slices.DeleteFunc(all, func(p plug) bool { return p.vif == "" })
}

// groupOf is the binding profile's local_group_information: a bond's properties for the switch.
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

// binding is fields of a port of Neutron's.
type binding map[string]any

// bindingOf is a port's binding to a machine. With network interface flat it has no link information for a switch, as
// in Ironic.
func bindingOf(n node.Node, p plug) binding {
	fields := binding{"binding:vnic_type": "baremetal", "binding:host_id": n.UUID}
	if !plan.Flat(n) {
		profile := map[string]any{"local_link_information": p.links}
		if p.group != nil {
			profile["local_group_information"] = p.group
		}
		if p.fabric != "" { // by it drivers choose the segment: rackerlabs/understack#2145
			profile["physical_network"] = p.fabric
		}
		fields["binding:profile"] = profile
	}
	if p.mac != "" {
		fields["mac_address"] = p.mac
	}
	if p.client != "" {
		fields["extra_dhcp_opts"] = []map[string]any{{"opt_name": "61", "opt_value": p.client}} // RFC 2132, 9.14
	}
	return fields
}

// plain is a value as it comes out of JSON.
func plain(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil
	}
	return out
}

// bindAll binds the VIFs of a node to where its machine is plugged in.
func (c *Client) bindAll(ctx context.Context, n node.Node, plugs []plug, a *plan.Attached) error {
	if len(plugs) == 0 {
		return node.Refuse(node.Invalid, "no VIF is attached to node %s: attach one (openstack baremetal node vif attach), "+
			"or set another network_interface", n.UUID)
	}
	for _, p := range plugs {
		made, err := c.bind(ctx, p.vif, bindingOf(n, p))
		if err != nil {
			return err
		}
		warn(made, a)
	}
	return nil
}

// anyMAC has unbind reset a VIF's MAC address whichever it is.
const anyMAC = "any"

// unbind takes a VIF off the machine. Where it has the machine's MAC address, that becomes one of Neutron's again, in a
// request of its own: Neutron changes none of a port that is bound. A VIF that is no more needs nothing.
func (c *Client) unbind(ctx context.Context, vif, mac string) error {
	is, err := c.bind(ctx, vif, binding{"binding:host_id": "", "binding:profile": map[string]any{}})
	if err == nil && (mac == anyMAC || mac != "" && strings.EqualFold(is.MAC, mac)) {
		_, err = c.update(ctx, vif, binding{"mac_address": nil})
	}
	if gone(err) {
		return nil
	}
	return err
}

// bind changes a VIF, unless it has the wanted binding already: an earlier request may have changed it although its
// answer was lost. Without that check, the drivers would notify the switches again.
func (c *Client) bind(ctx context.Context, vif string, to binding) (port, error) {
	is, err := c.port(ctx, vif)
	if err != nil || to.is(is) {
		return is, err
	}
	return c.update(ctx, vif, to)
}

func (c *Client) update(ctx context.Context, vif string, to binding) (port, error) {
	var answer struct {
		Port port `json:"port"`
	}
	err := c.call(ctx, http.MethodPut, "ports/"+url.PathEscape(vif), nil, map[string]any{"port": to}, &answer)
	return answer.Port, err
}

// Plug gives an attached VIF the address of its port, and binds it if the machine runs its owner's system. If Neutron
// did not answer and may have bound the VIF, Plug unbinds it.
func (c *Client) Plug(ctx context.Context, n node.Node, vif string, ports []node.Port, groups []node.Portgroup) error {
	p, ok := plugOf(vif, ports, groups)
	if !ok {
		return nil
	}
	if n.ProvisionState == node.Active {
		_, err := c.update(ctx, vif, bindingOf(n, p))
		if err != nil && !refused(err) {
			err = errors.Join(err, c.release(context.WithoutCancel(ctx), n, vif))
		}
		return err
	}
	if p.mac == "" {
		return nil
	}
	found, err := c.port(ctx, vif)
	if err != nil {
		return err
	}
	if strings.EqualFold(found.MAC, p.mac) {
		return nil
	}
	if found.Host != "" { // by its former machine
		if err := c.unbind(ctx, vif, ""); err != nil {
			return err
		}
	}
	_, err = c.update(ctx, vif, binding{"mac_address": p.mac})
	return err
}

// plugOf is the port or portgroup that has a VIF.
func plugOf(vif string, ports []node.Port, groups []node.Portgroup) (plug, bool) {
	all := plugsOf(ports, groups)
	i := slices.IndexFunc(all, func(p plug) bool { return p.vif == vif })
	if i < 0 {
		return plug{}, false
	}
	return all[i], true
}

// release unbinds a VIF from a node's machine. One at another machine is left there.
func (c *Client) release(ctx context.Context, n node.Node, vif string) error {
	found, err := c.port(ctx, vif)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return err
	case found.Host != "" && found.Host != n.UUID:
		return nil
	}
	return c.unbind(ctx, vif, anyMAC)
}

// Unplug takes a VIF off the machine that it was detached from.
func (c *Client) Unplug(ctx context.Context, vif string) error {
	return c.unbind(ctx, vif, anyMAC)
}

// Readdress gives a VIF the MAC address of its port. Neutron does not change the address of a bound port, so Readdress
// unbinds a bound VIF, and binds it again as it was, even after a failure. If an earlier failure has left a VIF unbound
// that should be bound, Readdress binds it.
func (c *Client) Readdress(ctx context.Context, n node.Node, vif string, ports []node.Port,
	groups []node.Portgroup) error {
	p, ok := plugOf(vif, ports, groups)
	if !ok {
		return nil
	}
	found, err := c.port(ctx, vif)
	switch {
	case err != nil:
		return err
	case found.Host == "" && n.ProvisionState == node.Active:
		_, err = c.update(ctx, vif, bindingOf(n, p))
		return err
	case strings.EqualFold(found.MAC, p.mac):
		return nil
	case found.Host == "":
		_, err = c.update(ctx, vif, binding{"mac_address": p.mac})
		return err
	}
	was := binding{"binding:host_id": found.Host, "binding:profile": found.Profile}
	if err = c.unbind(ctx, vif, ""); err == nil {
		_, err = c.update(ctx, vif, binding{"mac_address": p.mac})
	}
	if err == nil {
		_, err = c.update(ctx, vif, was)
	}
	if err == nil {
		return nil
	}
	was["mac_address"] = found.MAC
	if _, again := c.update(context.WithoutCancel(ctx), vif, was); again != nil {
		return fmt.Errorf("%w; and the VIF %s may be unbound now, as it was not bound again: %w", err, vif, again)
	}
	return err
}

// port reads a port.
func (c *Client) port(ctx context.Context, id string) (port, error) {
	var found struct {
		Port port `json:"port"`
	}
	err := c.call(ctx, http.MethodGet, "ports/"+url.PathEscape(id), nil, nil, &found)
	return found.Port, err
}

// VIF is the project that has a VIF, and the physical networks of its network; none where it has none, and any port
// will do.
func (c *Client) VIF(ctx context.Context, vif string) (project string, physical []string, err error) {
	found, err := c.port(ctx, vif)
	if err != nil {
		return "", nil, err
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
	if err := c.call(ctx, http.MethodGet, "networks/"+found.NetworkID, nil, nil, &network); err != nil {
		return "", nil, err
	}
	for _, s := range append(network.Network.Segments, network.Network.segment) {
		if s.Physical != "" {
			physical = append(physical, s.Physical)
		}
	}
	return found.Project, physical, nil
}
