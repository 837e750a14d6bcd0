package node

import "strconv"

// VolumeConnector identifies a node to a storage network: an iSCSI name, a WWPN, an address.
type VolumeConnector struct {
	Record
	NodeUUID    string         `json:"node_uuid"`
	Type        string         `json:"type"` // iqn, ip, mac, wwnn, wwpn, port, portgroup
	ConnectorID string         `json:"connector_id"`
	Extra       map[string]any `json:"extra,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*VolumeConnector) Kind() string { return "volume connector" }

// Keys are the node, and the connector's identity in its network.
func (v *VolumeConnector) Keys() []Key {
	return []Key{
		{Column: "identity", Value: strconv.Quote(v.Type) + " " + v.ConnectorID,
			Taken: "A volume connector with type " + v.Type +
				" and connector ID " + v.ConnectorID + " already exists."},
		{Column: "node_uuid", Value: v.NodeUUID},
	}
}

// Check has nothing to refuse.
func (*VolumeConnector) Check() error { return nil }

// VolumeTarget is a remote volume that a node can use; the one with boot index
// 0 is booted from.
type VolumeTarget struct {
	Record
	NodeUUID   string         `json:"node_uuid"`
	VolumeType string         `json:"volume_type"` // iscsi, fibre_channel, ...
	VolumeID   string         `json:"volume_id"`
	BootIndex  int            `json:"boot_index"`
	Properties map[string]any `json:"properties,omitempty"` // how to reach it, with its credentials
	Extra      map[string]any `json:"extra,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*VolumeTarget) Kind() string { return "volume target" }

// Keys are the node, and the boot index, which is unique within the node.
func (v *VolumeTarget) Keys() []Key {
	index := strconv.Itoa(v.BootIndex)
	return []Key{
		{Column: "place", Value: v.NodeUUID + " " + index, Taken: "A volume target with boot index '" + index +
			"' for the same node already exists."},
		{Column: "node_uuid", Value: v.NodeUUID},
	}
}

// Check has nothing to refuse.
func (*VolumeTarget) Check() error { return nil }
