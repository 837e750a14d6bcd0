package lldp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStated(t *testing.T) {
	for name, c := range map[string]struct {
		stated Stated
		read   Neighbor
		link   map[string]string
	}{
		"all": {Stated{ChassisID: "00:1C:73:AA:BB:CC", ChassisKind: "MacAddr", PortID: "Ethernet1/7", PortKind: "IfName",
			SystemName: "leaf-1", SystemDescription: "EOS", ManagementVLAN: 100},
			Neighbor{"switch_chassis_id": "00:1c:73:aa:bb:cc", "switch_port_id": "Ethernet1/7", "switch_system_name": "leaf-1",
				"switch_system_description": "EOS", "switch_port_management_vlan_id": 100},
			map[string]string{"switch_id": "00:1c:73:aa:bb:cc", "port_id": "Ethernet1/7", "switch_info": "leaf-1"}},
		"without kinds": {Stated{ChassisID: "00:1c:73:aa:bb:cc", PortID: "xe-0/0/3"},
			Neighbor{"switch_chassis_id": "00:1c:73:aa:bb:cc", "switch_port_id": "xe-0/0/3"},
			map[string]string{"switch_id": "00:1c:73:aa:bb:cc", "port_id": "xe-0/0/3"}},
		"a port in octets": {Stated{ChassisID: "leaf", ChassisKind: "LocalAssign", PortID: "65:74:68:31", PortKind: "IfName"},
			Neighbor{"switch_chassis_id": "leaf", "switch_port_id": "eth1"}, map[string]string{"port_id": "eth1"}},
		"addresses": {Stated{ChassisID: "10.0.0.9", ChassisKind: "NetworkAddr", PortID: "2001:db8::1",
			PortKind: "NetworkAddr"},
			Neighbor{"switch_chassis_id": "10.0.0.9", "switch_port_id": "2001:db8::1"},
			map[string]string{"port_id": "2001:db8::1"}},
		"a word for none": {Stated{ChassisID: "No Link", PortID: "No Link"}, nil, map[string]string{}},
		"not transmitted": {Stated{ChassisID: "x", PortID: "y", PortKind: "NotTransmitted"}, nil, map[string]string{}},
		"a name for an address": {Stated{ChassisID: "leaf", ChassisKind: "MacAddr", PortID: "7", PortKind: "NoSuchKind"},
			Neighbor{"switch_chassis_id": "leaf", "switch_port_id": "7"}, map[string]string{"port_id": "7"}},
	} {
		tlvs := c.stated.TLVs()
		wired, problems := FromWire(Wire(tlvs))
		read, unread := Read(wired)
		if len(read) == 0 {
			read = nil
		}
		if len(problems)+len(unread) > 0 {
			t.Errorf("%s: %v, %v", name, problems, unread)
		}
		if diff := cmp.Diff(c.read, read); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.link, Link(tlvs)); diff != "" {
			t.Errorf("%s, its link (-want +got):\n%s", name, diff)
		}
	}
}
