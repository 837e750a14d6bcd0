package node_test

import (
	"errors"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// bonded is a node at rest, a port of it and the portgroup the port is in.
func bonded() (node.Node, node.Port, node.Bond) {
	n := node.Node{UUID: "n", ProvisionState: node.Manageable, Interfaces: map[string]string{"network": "flat"}}
	p := node.Port{UUID: "p", NodeUUID: "n", Address: "52:54:00:00:00:01", PortgroupUUID: "g", PhysicalNetwork: "a"}
	other := node.Port{UUID: "q", NodeUUID: "n", PortgroupUUID: "g", PhysicalNetwork: "a"}
	return n, p, node.Bond{node.Portgroup{Record: node.Record{UUID: "g"}, NodeUUID: "n", StandalonePorts: true},
		[]node.Port{p, other}}
}

// refusal returns the kind and text of a refusal; "" for none.
func refusal(t *testing.T, err error) (node.Kind, string) {
	t.Helper()
	var r *node.Refusal
	if err == nil {
		return 0, ""
	}
	if !errors.As(err, &r) {
		t.Fatalf("%v is not a refusal", err)
	}
	return r.Kind, r.Reason
}

func TestCheckPort(t *testing.T) {
	const locked = "Port p can not have any connectivity attributes (local_link_connection, pxe_enabled, portgroup_id, " +
		"physical_network) updated unless node n is in a enroll, inspecting, inspect wait, manageable state or in " +
		"maintenance mode. The current state is active."
	type world struct {
		n    node.Node
		old  *node.Port
		p    node.Port
		bond *node.Bond
	}
	for name, c := range map[string]struct {
		edit func(w *world)
		kind node.Kind
		want string
	}{
		"nothing": {func(*world) {}, 0, ""},
		"new":     {func(w *world) { w.old, w.p.PXEEnabled = nil, true }, 0, ""},
		"a smart NIC without host": {func(w *world) { w.old, w.p.IsSmartNIC = nil, true }, node.Invalid,
			"Smart NIC port must have port_id and hostname in local_link_connection"},
		"a smart NIC": {func(w *world) {
			w.old, w.p.IsSmartNIC = nil, true
			w.p.LocalLinkConnection = map[string]any{"port_id": "1", "hostname": "h"}
		}, 0, ""},
		"address": {func(w *world) { w.n.ProvisionState, w.p.Address = node.Available, "x" }, 0, ""},
		"address of an active node": {func(w *world) { w.n.ProvisionState, w.p.Address = node.Active, "x" }, node.Conflict,
			"Cannot update hardware address for port p as node n is active or has instance UUID assigned"},
		"address in use": {func(w *world) { w.n.InstanceUUID, w.p.Address = "i", "x" }, node.Conflict,
			"Cannot update hardware address for port p as node n is active or has instance UUID assigned"},
		"address in maintenance": {
			func(w *world) { w.n.InstanceUUID, w.n.Maintenance, w.p.Address = "i", true, "x" }, 0, "",
		},
		"link of an active node": {
			func(w *world) { w.n.ProvisionState, w.p.LocalLinkConnection = node.Active, map[string]any{"a": "b"} },
			node.Conflict, locked,
		},
		"no link as before": {
			func(w *world) { w.n.ProvisionState, w.p.LocalLinkConnection = node.Active, map[string]any{} }, 0, "",
		},
		"out of a portgroup, active": {func(w *world) {
			w.n.ProvisionState, w.p.PortgroupUUID, w.bond = node.Active, "", nil
		}, node.Conflict, locked},
		"extra of an active node": {
			func(w *world) { w.n.ProvisionState, w.p.Extra = node.Active, map[string]any{"a": "b"} }, 0, "",
		},
		"another node's portgroup": {func(w *world) { w.bond.NodeUUID = "m" }, node.Invalid,
			"Port can not be added to a portgroup belonging to a different node."},
		"boots, new": {func(w *world) { w.old, w.p.PXEEnabled, w.bond.StandalonePorts = nil, true, false },
			node.Conflict,
			"Port group g doesn't support standalone ports. This port cannot be created as a member of that portgroup as the " +
				"port's 'pxe_enabled' field was set to True."},
		"boots": {func(w *world) { w.p.PXEEnabled, w.bond.StandalonePorts = true, false }, node.Conflict,
			"Port group g doesn't support standalone ports. This port p cannot be a member of that port group because of: " +
				"'pxe_enabled' was set to True"},
		"boots, noop": {func(w *world) {
			w.p.PXEEnabled, w.bond.StandalonePorts, w.n.Interfaces["network"] = true, false, "noop"
		}, 0, ""},
		"is a tenant's": {func(w *world) { w.p.SetVIF("v"); w.bond.StandalonePorts = false }, node.Conflict,
			"Port group g doesn't support standalone ports. This port p cannot be a member of that port group because of: VIF " +
				"v is attached to the port"},
		"network of the others": {func(w *world) { w.old, w.p.UUID = nil, "r" }, 0, ""},
		"another network": {func(w *world) { w.p.PhysicalNetwork = "b" }, node.Conflict,
			"Port with physical network b cannot become a member of port group g which has ports in physical network a."},
		"no network": {func(w *world) { w.old, w.p.UUID, w.p.PhysicalNetwork = nil, "r", "" }, node.Conflict,
			"Port with physical network None cannot become a member of port group g which has ports in physical network a."},
		"alone in another network": {
			func(w *world) { w.p.PhysicalNetwork, w.bond.Members = "b", w.bond.Members[:1] }, 0, "",
		},
		"alone, but the group's": {
			func(w *world) { w.p.PhysicalNetwork, w.bond.Members, w.bond.PhysicalNetwork = "b", nil, "c" }, node.Conflict,
			"Port with physical network b cannot become a member of port group g which has ports in physical network c.",
		},
		"an old quarrel stays one":   {func(w *world) { w.bond.Members[1].PhysicalNetwork = "b" }, 0, ""},
		"first of a group, any will": {func(w *world) { w.old, w.bond.Members = nil, nil }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, p, bond := bonded()
			old := p
			w := world{n, &old, p, &bond}
			c.edit(&w)
			if kind, text := refusal(t, node.CheckPort(w.n, w.old, w.p, w.bond)); text != c.want || kind != c.kind {
				t.Errorf("kind %d %q, want %d %q", kind, text, c.kind, c.want)
			}
		})
	}
}

func TestCheckPortgroup(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(n *node.Node, b *node.Bond)
		kind node.Kind
		want string
	}{
		"mode":  {func(n *node.Node, b *node.Bond) { n.ProvisionState, b.Mode = node.Active, "802.3ad" }, 0, ""},
		"moved": {func(_ *node.Node, b *node.Bond) { b.NodeUUID, b.Members = "m", nil }, 0, ""},
		"moved with ports": {func(_ *node.Node, b *node.Bond) { b.NodeUUID = "m" }, node.Invalid,
			"Portgroup g can not be associated with node n because there are ports associated with this portgroup."},
		"moved, node active": {
			func(n *node.Node, b *node.Bond) { n.ProvisionState, b.NodeUUID, b.Members = node.Active, "m", nil }, node.Conflict,
			"Portgroup g can not be associated to node n unless the node is in a enroll, inspecting, inspect wait, manageable " +
				"state or in maintenance mode. Current state is 'active'.",
		},
		"standalone": {func(_ *node.Node, b *node.Bond) { b.StandalonePorts = false }, 0, ""},
		"a port boots": {func(_ *node.Node, b *node.Bond) { b.StandalonePorts, b.Members[1].PXEEnabled = false, true },
			node.Conflict,
			"standalone_ports_supported can not be set to False, because the port group g contains port with 'pxe_enabled' is " +
				"set to True"},
		"a port boots, noop": {func(n *node.Node, b *node.Bond) {
			n.Interfaces["network"], b.StandalonePorts, b.Members[1].PXEEnabled = "noop", false, true
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, _, bond := bonded()
			old := bond.Portgroup
			c.edit(&n, &bond)
			if kind, text := refusal(t, node.CheckPortgroup(n, old, bond)); text != c.want || kind != c.kind {
				t.Errorf("kind %d %q, want %d %q", kind, text, c.kind, c.want)
			}
		})
	}
}
