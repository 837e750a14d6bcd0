package node_test

import (
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestPlaceVIF has a node with ports in the order of their letters.
func TestPlaceVIF(t *testing.T) {
	port := func(id, group, vif string, pxe bool) node.Port {
		p := node.Port{UUID: id, PortgroupUUID: group, PXEEnabled: pxe}
		p.SetVIF(vif)
		return p
	}
	group := func(id, vif string) node.Portgroup {
		g := node.Portgroup{Record: node.Record{UUID: id}}
		g.SetVIF(vif)
		return g
	}
	smart, linked := port("a", "", "", true), port("b", "", "", false)
	smart.IsSmartNIC = true
	linked.LocalLinkConnection = map[string]any{"port_id": "1", "hostname": "h"}
	fabric := linked
	fabric.Extra = map[string]any{"client-id": "ff"}
	none := "Unable to attach VIF v, not enough free physical ports."
	for name, c := range map[string]struct {
		vif    node.VIF
		ports  []node.Port
		groups []node.Portgroup
		want   string // the UUID, or the refusal
	}{
		"nothing there": {node.VIF{}, nil, nil, none},
		"the first":     {node.VIF{}, []node.Port{port("a", "", "", true), port("b", "", "", true)}, nil, "a"},
		"one that boots": {
			node.VIF{}, []node.Port{port("a", "", "", false), port("b", "", "", true)}, nil, "b",
		},
		"a free one": {
			node.VIF{}, []node.Port{port("a", "", "x", true), port("b", "", "", false)}, nil, "b",
		},
		"none is free": {node.VIF{}, []node.Port{port("a", "", "x", true)}, nil, none},
		"there already": {node.VIF{}, []node.Port{port("a", "", "", true), port("b", "", "v", true)}, nil,
			"Unable to attach VIF because VIF v is already attached to Ironic Port b"},
		"a portgroup first": {node.VIF{}, []node.Port{port("a", "", "", true), port("b", "g", "", false)},
			[]node.Portgroup{group("g", "")}, "g"},
		"an empty portgroup is none": {node.VIF{}, []node.Port{port("a", "", "", true)},
			[]node.Portgroup{group("g", "")}, "a"},
		"a portgroup in use": {node.VIF{}, []node.Port{port("b", "g", "", true), port("c", "", "", false)},
			[]node.Portgroup{group("g", "x")}, "c"},
		"there already, in a group": {node.VIF{}, []node.Port{port("b", "g", "", true)}, []node.Portgroup{group("g", "v")},
			"Unable to attach VIF because VIF v is already attached to Ironic Portgroup g"},
		"its ports are used alone": {node.VIF{}, []node.Port{port("b", "g", "x", true), port("c", "g", "", false)},
			[]node.Portgroup{group("g", "")}, "c"},
		"a port that was named": {
			node.VIF{PortUUID: "b"}, []node.Port{port("a", "", "", true), port("b", "", "", false)}, nil, "b",
		},
		"named, but in use": {
			node.VIF{PortUUID: "b"}, []node.Port{port("a", "", "", true), port("b", "", "x", false)}, nil, none,
		},
		"named, but in a portgroup": {
			node.VIF{PortUUID: "b"}, []node.Port{port("a", "", "", true), port("b", "g", "", false)},
			[]node.Portgroup{group("g", "")}, none,
		},
		"named, but there is no such": {node.VIF{PortUUID: "z"}, []node.Port{port("a", "", "", true)}, nil, none},
		"a portgroup that was named": {
			node.VIF{PortgroupUUID: "h"}, []node.Port{port("a", "g", "", true), port("b", "h", "", true)},
			[]node.Portgroup{group("g", ""), group("h", "")}, "h",
		},
		"a named portgroup without": {node.VIF{PortgroupUUID: "h"}, []node.Port{port("a", "", "", true)},
			[]node.Portgroup{group("h", "")}, none},
		"a smart NIC plugged into air": {node.VIF{}, []node.Port{smart}, nil, none},
		"plugged in as a smart NIC":    {node.VIF{}, []node.Port{linked}, nil, none},
		"InfiniBand":                   {node.VIF{}, []node.Port{fabric}, nil, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			c.vif.ID = "v"
			p, g, err := node.PlaceVIF(c.vif, c.ports, c.groups)
			_, got := refusal(t, err)
			if p != nil {
				got += p.UUID
			}
			if g != nil {
				got += g.UUID
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
