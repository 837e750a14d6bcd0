package redfish_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// TestSwitches: a card's switch is in its port, or in Dell's own list.
func TestSwitches(t *testing.T) {
	const adapter = partsChassis + "/NetworkAdapters/A"
	want := map[string]string{"switch_id": "00:1c:73:aa:bb:cc", "port_id": "Ethernet1/7"}
	for name, change := range map[string]func(d map[string]map[string]any){
		"its port": func(d map[string]map[string]any) {
			d[partsSystem]["Links"] = document{"Chassis": []any{link(partsChassis)}}
			d[partsChassis] = document{"NetworkAdapters": link(partsChassis + "/NetworkAdapters")}
			d[partsChassis+"/NetworkAdapters"] = members(adapter)
			d[adapter] = document{"Ports": link(adapter + "/Ports")}
			d[adapter+"/Ports"] = members(adapter + "/Ports/1")
			d[adapter+"/Ports/1"] = document{"Id": "1", "Ethernet": document{
				"AssociatedMACAddresses": []any{"02:50:A1:00:00:01"},
				"LLDPReceive": document{"ChassisId": "00:1C:73:AA:BB:CC", "ChassisIdSubtype": "MacAddr",
					"PortId": "Ethernet1/7", "PortIdSubtype": "IfName", "ManagementVlanId": 4095}}}
		},
		"Dell's list": func(d map[string]map[string]any) {
			d[partsSystem]["Manufacturer"] = "Dell Inc."
			d[partsSystem+"/NetworkPorts/Oem/Dell/DellSwitchConnections"] = document{"Members": []any{
				document{"FQDD": "NIC.Slot.3-1-1", "SwitchConnectionID": "No Link", "SwitchPortConnectionID": "No Link"},
				document{"FQDD": "nic1", "SwitchConnectionID": "00:1c:73:aa:bb:cc", "SwitchPortConnectionID": "Ethernet1/7"}}}
		},
	} {
		cards := readParts(t, change).Cards
		if len(cards) != 1 {
			t.Fatalf("%s: %+v", name, cards)
		}
		if diff := cmp.Diff(want, lldp.Link(cards[0].Switch)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if cards := readParts(t, func(map[string]map[string]any) {}).Cards; cards[0].Switch != nil {
		t.Errorf("a card without a switch: %+v", cards)
	}
}

// TestStorageControllers are in Ironic's form.
func TestStorageControllers(t *testing.T) {
	const drive = partsSystem + "/Storage/0/Drives/0"
	p := readParts(t, func(d map[string]map[string]any) {
		d[partsSystem+"/Storage/0"] = document{"Id": "RAID.1", "Name": "PERC", "Drives": []any{link(drive)},
			"StorageControllers": []any{document{"MemberId": "0", "Name": "H755", "SpeedGbps": 12,
				"SupportedRAIDTypes": []any{"RAID0", "RAID1"}, "SupportedDeviceProtocols": []any{"SAS"},
				"Status": document{"Health": "OK", "State": "Enabled"}}}}
		d[drive] = document{"Id": "0", "Name": "Bay 0", "CapacityBytes": 1000, "Protocol": "SAS", "Revision": "B2",
			"MediaType": "SSD", "Status": document{"HealthRollup": "Warning"}}
	})
	want := []agentapi.StorageController{{ID: "RAID.1", Name: "PERC",
		Parts: []agentapi.ControllerPart{{MemberID: "0", Name: "H755", SpeedGbps: 12, RAIDTypes: []string{"RAID0", "RAID1"},
			ControllerProtocols: []string{}, DeviceProtocols: []string{"SAS"},
			Status: &agentapi.PartStatus{Health: "OK", State: "Enabled"}}},
		Drives: []agentapi.ControllerDrive{{Name: "Bay 0", Size: 1000, ID: "0", MediaType: "SSD", Revision: "B2",
			Protocol: "SAS", Status: &agentapi.PartStatus{HealthRollup: "Warning"}}}}}
	if diff := cmp.Diff(want, p.Controllers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestServiceTag: idrac-redfish means the service tag, as DMI does; redfish means the serial number.
func TestServiceTag(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{"SerialNumber": "CNBOARD123", "SKU": "SVCTAG7"}
	for inspect, want := range map[string]string{"idrac-redfish": "SVCTAG7", "redfish": "CNBOARD123"} {
		n := b.node()
		n.Interfaces = map[string]string{"inspect": inspect}
		if s, err := newDriver(t, redfish.Options{}).System(t.Context(), n); err != nil || s.Serial != want {
			t.Errorf("%s: %q, %v", inspect, s.Serial, err)
		}
	}
}
