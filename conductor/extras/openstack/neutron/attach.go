package neutron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Attach puts a machine's ports into one network and out of all others: the VIFs of its owner, one of the ramdisks', or
// none. It returns the Neutron ports that it has for the ramdisk, by the UUIDs of the node's ports, and warnings.
func (c *Client) Attach(ctx context.Context, n node.Node, to string, ports []node.Port,
	groups []node.Portgroup) (a plan.Attached, err error) {
	a.Network = to
	plugs := plugsOf(ports, groups)
	if plan.Flat(n) {
		return a, c.bindFlat(ctx, n, to, plugs, &a)
	}
	if to != plan.TenantNetwork {
		for _, p := range plugs {
			if err := c.unbind(ctx, p.vif, p.mac); err != nil {
				return a, err
			}
		}
	}
	target, networks, err := c.networks(ctx, n, to, &a)
	if err != nil {
		return a, err
	}
	wanted, err := c.wanted(ctx, n, to, target, ports)
	if err != nil {
		return a, err
	}
	kept, err := c.clear(ctx, wanted, networks, ports, plugs)
	if err != nil {
		return a, err
	}
	if to == plan.TenantNetwork {
		err = c.bindAll(ctx, n, plugs, &a)
		return a, err
	}
	err = c.create(ctx, wanted, ports, kept, &a)
	return a, err
}

// bindFlat binds the VIFs of a node with network interface flat to its machine, or to none. No switch changes, and
// Neutron has no address for a machine without VIFs.
func (c *Client) bindFlat(ctx context.Context, n node.Node, to string, plugs []plug, a *plan.Attached) error {
	if to == plan.TenantNetwork && len(plugs) > 0 {
		return c.bindAll(ctx, n, plugs, a)
	}
	for _, p := range plugs {
		if err := c.unbind(ctx, p.vif, p.mac); err != nil {
			return err
		}
	}
	return nil
}

// Leave takes the ports of ramdisks out of all networks. VIFs stay as they are: their owner's system may run.
func (c *Client) Leave(ctx context.Context, n node.Node, ports []node.Port, groups []node.Portgroup) error {
	_, networks, err := c.networks(ctx, n, plan.NoNetwork, &plan.Attached{})
	if err == nil {
		_, err = c.clear(ctx, nil, networks, ports, plugsOf(ports, groups))
	}
	return err
}

// wanted are the ports of a ramdisk in its network, by MAC address; none where there is no network to go into.
func (c *Client) wanted(ctx context.Context, n node.Node, to, network string, ports []node.Port) (
	map[string]binding, error) {
	if network == "" {
		return nil, nil //nolint:nilnil // none
	}
	var groups []string
	for _, named := range c.SecurityGroups[to] {
		id, err := c.find(ctx, "security-groups", named)
		if err != nil {
			return nil, fmt.Errorf("security group of ramdisks: %w", err)
		}
		groups = append(groups, id)
	}
	all := map[string]binding{}
	for _, p := range ports {
		if p.PXEEnabled && p.Wired() {
			all[strings.ToLower(p.Address)] = ramdiskPort(n, network, groups, p)
		}
	}
	if len(all) == 0 {
		return nil, node.Refuse(node.Invalid, "no port of the node has pxe_enabled and local_link_connection: no "+
			"field tells Neutron where the machine is plugged in")
	}
	return all, nil
}

// networks are the UUID of the ramdisk network to enter, "" for none, and the UUIDs of all ramdisk networks. A network
// that cannot be found is a warning, unless it is the one to enter.
func (c *Client) networks(ctx context.Context, n node.Node, to string, a *plan.Attached) (target string, all []string,
	err error) {
	named := maps.Clone(c.Networks)
	for _, kind := range plan.RamdiskNetworks() {
		own, err := plan.OwnNetwork(n, kind, c.NodeNetworks)
		switch {
		case err != nil && kind == to:
			return "", nil, err
		case own != "" && kind == to:
			named[kind], named["default of "+kind] = own, cmp.Or(named[kind], own)
		case own != "":
			named["own "+kind] = own
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(named)) {
		id, err := c.find(ctx, "networks", named[kind])
		var refused *node.Refusal
		switch {
		case errors.As(err, &refused) && kind != to:
			a.Warnings = append(a.Warnings, fmt.Sprintf("the network of ramdisks (%s): %v", kind, err))
			continue
		case err != nil:
			return "", nil, err
		case kind == to:
			target = id
		}
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if target == "" && to != plan.TenantNetwork && to != plan.NoNetwork {
		return "", nil, node.Refuse(node.Invalid, "no %[1]s network is known: name one with --neutron-networks %[1]s=NAME",
			to)
	}
	return target, all, nil
}

// clear removes a machine's ramdisk ports, except those that are as wanted, which it returns by MAC address. Others'
// ports with the same address are left alone.
func (c *Client) clear(ctx context.Context, wanted map[string]binding, networks []string, ports []node.Port,
	plugs []plug) (kept map[string]port, err error) {
	found, err := c.ramdiskPorts(ctx, networks, ports)
	if err != nil {
		return nil, err
	}
	kept = map[string]port{}
	for _, p := range found {
		mac := strings.ToLower(p.MAC)
		switch {
		case p.Owner != ramdiskOwner || slices.ContainsFunc(plugs, func(one plug) bool { return one.vif == p.ID }):
			continue
		case kept[mac].ID == "" && wanted[mac].is(p):
			kept[mac] = p
			continue
		}
		if err := c.call(ctx, http.MethodDelete, "ports/"+p.ID, nil, nil, nil); err != nil && !gone(err) {
			return nil, err
		}
	}
	return kept, nil
}

// ramdiskPorts are the ports in the networks of ramdisks with the addresses of a machine, and those that its ports
// name: a network may have been another one then.
func (c *Client) ramdiskPorts(ctx context.Context, networks []string, ports []node.Port) (all []port, err error) {
	query, named := url.Values{}, []string{}
	for _, p := range ports {
		query.Add("mac_address", p.Address)
		ids, _ := plan.RamdiskPorts(p)
		named = append(named, ids...)
	}
	if len(query) == 0 {
		return nil, nil
	}
	known := map[string]bool{}
	if query["network_id"] = networks; len(networks) > 0 {
		var found struct {
			Ports []port `json:"ports"`
		}
		if err := c.call(ctx, http.MethodGet, "ports", query, nil, &found); err != nil {
			return nil, err
		}
		for _, p := range found.Ports {
			known[p.ID] = true
			all = append(all, p)
		}
	}
	for _, id := range named {
		if known[id] {
			continue
		}
		p, err := c.port(ctx, id)
		switch {
		case gone(err):
		case err != nil:
			return nil, err
		default:
			all = append(all, p)
		}
	}
	return all, nil
}

// create makes the ports of a ramdisk that are not there yet.
func (c *Client) create(ctx context.Context, wanted map[string]binding, ports []node.Port, kept map[string]port,
	a *plan.Attached) error {
	a.Ports = map[string]string{}
	for _, p := range ports {
		mac := strings.ToLower(p.Address)
		want := wanted[mac]
		if want == nil {
			continue
		}
		made, ok := kept[mac]
		if !ok {
			var answer struct {
				Port port `json:"port"`
			}
			if err := c.call(ctx, http.MethodPost, "ports", nil, map[string]any{"port": want}, &answer); err != nil {
				return err
			}
			made = answer.Port
		}
		a.Ports[p.UUID] = made.ID
		warn(made, a)
	}
	return nil
}

// warn notes a port that Neutron has not bound at any switch.
func warn(p port, a *plan.Attached) {
	if p.VIFType == bindingFailed {
		a.Warnings = append(a.Warnings, "Neutron has configured no switch for its port "+p.ID+" (binding_failed): no "+
			"mechanism driver has taken it")
	}
}

// ramdiskPort is a new port, as Ironic makes it.
func ramdiskPort(n node.Node, network string, groups []string, p node.Port) binding {
	device := n.InstanceUUID
	if device == "" {
		device = n.UUID
	}
	new := bindingOf(n, plug{links: []map[string]any{p.LocalLinkConnection}, mac: p.Address,
		fabric: p.PhysicalNetwork, client: clientID(p)})
	maps.Copy(new, binding{"network_id": network, "admin_state_up": true, "device_owner": ramdiskOwner,
		"device_id": device})
	if groups != nil {
		new["security_groups"] = groups
	}
	return new
}

// is reports whether a port has the wanted binding. A port with a failed binding does not: it is made anew.
func (b binding) is(p port) bool {
	groups, given := b["security_groups"].([]string)
	has := func(key, value string) bool {
		want, asked := b[key].(string)
		return !asked || strings.EqualFold(want, value)
	}
	return b != nil && has("network_id", p.NetworkID) && has("mac_address", p.MAC) && has("binding:host_id", p.Host) &&
		has("binding:vnic_type", p.VNIC) && p.VIFType != bindingFailed &&
		(b["binding:profile"] == nil || reflect.DeepEqual(plain(b["binding:profile"]), plain(p.Profile))) &&
		(!given || slices.Equal(slices.Sorted(slices.Values(groups)), slices.Sorted(slices.Values(p.Groups))))
}
