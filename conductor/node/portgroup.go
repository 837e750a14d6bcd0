package node

// Portgroup is ports of one node that work as one (link aggregation). The
// ports name it, it does not name them.
type Portgroup struct {
	Record
	NodeUUID        string         `json:"node_uuid"`
	Name            string         `json:"name,omitempty"`
	Address         string         `json:"address,omitempty"` // MAC, lower case
	Mode            string         `json:"mode"`              // of the bond: active-backup, 802.3ad, ...
	StandalonePorts bool           `json:"standalone_ports_supported"`
	PhysicalNetwork string         `json:"physical_network,omitempty"`
	Category        string         `json:"category,omitempty"`
	Properties      map[string]any `json:"properties,omitempty"`
	Extra           map[string]any `json:"extra,omitempty"`
	InternalInfo    map[string]any `json:"internal_info,omitempty"`
}

// DefaultMode is the mode of a portgroup that asks for none; it is Ironic's.
const DefaultMode = "active-backup"

// Kind returns the name of this kind of record for messages.
func (*Portgroup) Kind() string { return "portgroup" }

// Keys is the name, the address and the node.
func (g *Portgroup) Keys() []Key {
	return []Key{
		named("portgroup", g.Name),
		{Column: "address", Value: g.Address, Taken: "A portgroup with MAC address " + g.Address + " already exists."},
		{Column: "node_uuid", Value: g.NodeUUID},
	}
}

// Check has nothing to refuse: only ports can contradict a portgroup.
func (*Portgroup) Check() error { return nil }

// Holds names the members of a portgroup.
func (*Portgroup) Holds() string { return "ports" }
