package neutron

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Attach puts a machine's ports into one network and out of all others: the VIFs of its owner, one of the ramdisks', or
// none. It returns the Neutron ports that it has for the ramdisk, by the UUIDs of the node's ports, and doubts that
// fail nothing.
func (c *Client) Attach(ctx context.Context, n node.Node, to string, ports []node.Port,
	groups []node.Portgroup) (a plan.Attached, err error) {
	a.Network = to
	plugs := plugsOf(ports, groups)
	if to != plan.TenantNetwork {
		for _, p := range plugs {
			if err := c.unbind(ctx, p.vif, p.mac != ""); err != nil {
				return a, err
			}
		}
	}
	target, networks, err := c.networks(ctx, n, to)
	if err != nil {
		return a, err
	}
	there, err := c.clear(ctx, n, target, networks, ports)
	if err != nil {
		return a, err
	}
	switch to {
	case plan.NoNetwork:
	case plan.TenantNetwork:
		return a, c.bindAll(ctx, n, plugs, &a)
	default:
		err = c.create(ctx, n, target, ports, there, &a)
	}
	return a, err
}

// networks are the UUID of the network to go into, "" for none, and those of all networks of ramdisks.
func (c *Client) networks(ctx context.Context, n node.Node, to string) (target string, all []string, err error) {
	for _, kind := range slices.Sorted(maps.Keys(c.Networks)) {
		named := c.Networks[kind]
		if own, _ := n.DriverInfo[kind+"_network"].(string); own != "" {
			named = own
		}
		if named == "" {
			continue
		}
		id, err := c.network(ctx, named)
		if err != nil {
			return "", nil, err
		}
		if kind == to {
			target = id
		}
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if target == "" && to != plan.TenantNetwork && to != plan.NoNetwork {
		return "", nil, node.Refuse(node.Invalid, "no %[1]s network is known: name one with --neutron-networks %[1]s=NAME, "+
			"or in driver_info/%[1]s_network", to)
	}
	return target, all, nil
}

// clear removes the ports of ramdisks of a machine, but for those in the network to go into, which it returns by MAC
// address.
func (c *Client) clear(ctx context.Context, n node.Node, target string, networks []string,
	ports []node.Port) (there map[string]port, err error) {
	there = map[string]port{}
	query := url.Values{}
	for _, p := range ports {
		if p.PXEEnabled {
			query.Add("mac_address", p.Address)
		}
	}
	if len(query) == 0 {
		return there, nil
	}
	for _, network := range networks {
		query.Set("network_id", network)
		var found struct {
			Ports []port `json:"ports"`
		}
		if err := c.call(ctx, http.MethodGet, "ports", query, nil, &found); err != nil {
			return nil, err
		}
		for _, p := range found.Ports {
			if mac := strings.ToLower(p.MAC); network == target && p.Host == n.UUID && p.Bound != bindingFailed &&
				there[mac].ID == "" {
				there[mac] = p
				continue
			}
			if err := c.call(ctx, http.MethodDelete, "ports/"+p.ID, nil, nil, nil); err != nil && !gone(err) {
				return nil, err
			}
		}
	}
	return there, nil
}

// create makes the ports of a ramdisk that are not there yet.
func (c *Client) create(ctx context.Context, n node.Node, network string, ports []node.Port, there map[string]port,
	a *plan.Attached) error {
	a.Ports = map[string]string{}
	for _, p := range ports {
		if !p.PXEEnabled || !p.Wired() {
			continue
		}
		made, ok := there[strings.ToLower(p.Address)]
		if !ok {
			var answer struct {
				Port port `json:"port"`
			}
			if err := c.call(ctx, http.MethodPost, "ports", nil, map[string]any{"port": ramdiskPort(n, network, p)},
				&answer); err != nil {
				return err
			}
			made = answer.Port
		}
		a.Ports[p.UUID] = made.ID
		doubt(made, p.Address, a)
	}
	if len(a.Ports) == 0 {
		return node.Refuse(node.Invalid, "no port of the node has pxe_enabled and local_link_connection: nothing tells "+
			"Neutron where the machine is plugged in")
	}
	return nil
}

// doubt notes a port of which no switch was told.
func doubt(p port, mac string, a *plan.Attached) {
	if p.Bound == bindingFailed {
		a.Doubts = append(a.Doubts, "Neutron has told no switch of the port "+p.ID+" of "+mac+
			" (binding_failed): no mechanism driver has taken it")
	}
}

// ramdiskPort is a new port, as Ironic makes it.
func ramdiskPort(n node.Node, network string, p node.Port) map[string]any {
	device := n.InstanceUUID
	if device == "" {
		device = n.UUID
	}
	is := bound(n, plug{links: []map[string]any{p.LocalLinkConnection}, mac: p.Address, client: clientID(p)})
	maps.Copy(is, map[string]any{"network_id": network, "admin_state_up": true, "device_owner": "baremetal:none",
		"device_id": device})
	return is
}
