package redfish_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

type document = map[string]any

func members(paths ...string) document {
	all := []any{}
	for _, p := range paths {
		all = append(all, link(p))
	}
	return document{"Members": all}
}

// readParts reads the parts of the small BMC after a change.
func readParts(t *testing.T, change func(docs map[string]map[string]any)) node.Parts {
	t.Helper()
	docs := recordedtest.Small()
	change(docs)
	web := recordedtest.Serve(t, docs, recorded.Config{})
	d := redfish.New(redfish.Options{})
	defer func() { _ = d.Close() }()
	p, err := d.Parts(t.Context(), node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": web.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	partsSystem  = "/redfish/v1/Systems/1"
	partsChassis = "/redfish/v1/Chassis/1"
)

// TestDisks has the places where BMCs keep their drives.
func TestDisks(t *testing.T) {
	const array = partsSystem + "/SmartStorage/ArrayControllers"
	nvme := node.Disk{Name: "Bay 0", Bytes: 256060514304, Transport: "nvme"}
	for name, tc := range map[string]struct {
		change func(d map[string]map[string]any)
		want   []node.Disk
	}{
		"storage": {func(map[string]map[string]any) {}, []node.Disk{nvme}},
		"all that is known of one": {func(d map[string]map[string]any) {
			d[partsSystem+"/Storage/0/Drives/0"] = document{"Name": "Disk 3  ", "Model": "X9", "Manufacturer": "N/A",
				"SerialNumber": 4711, "MediaType": "HDD", "Protocol": "SAS", "CapacityBytes": "8000000000000",
				"Identifiers": []any{document{"DurableName": "0x5000C500A1B2C3D4", "DurableNameFormat": "NAA"}},
				"Status":      document{"State": "Enabled", "Health": "Warning"}}
		}, []node.Disk{{Name: "Disk 3", Model: "X9", Serial: "4711", Bytes: 8000000000000, Rotational: true, Transport: "sas",
			WWN: "0x5000c500a1b2c3d4", Health: "Warning"}}},
		"an empty slot, one that is gone, and a virtual one": {func(d map[string]map[string]any) {
			drives := partsSystem + "/Storage/0/Drives/"
			d[partsSystem+"/Storage/0"]["Drives"] = []any{link(drives + "0"), link(drives + "1"), link(drives + "2"),
				link(drives + "3"), link(drives + "0")}
			d[drives+"1"] = document{"Name": "Bay 1", "Status": document{"State": "Absent"}, "CapacityBytes": nil}
			d[drives+"3"] = document{"Name": "USB", "Model": "Virtual HDisk Device", "CapacityBytes": 1 << 30}
		}, []node.Disk{nvme}},
		"simple storage": {func(d map[string]map[string]any) {
			delete(d[partsSystem], "Storage")
			d[partsSystem]["SimpleStorage"] = link(partsSystem + "/SimpleStorage")
			d[partsSystem+"/SimpleStorage"] = members(partsSystem + "/SimpleStorage/1")
			d[partsSystem+"/SimpleStorage/1"] = document{"Devices": []any{
				document{"Name": "Disk", "CapacityBytes": 1000, "Model": "A"}, document{"Name": "Disk", "CapacityBytes": 2000}}}
		}, []node.Disk{{Name: "Disk", Model: "A", Bytes: 1000}, {Name: "Disk-2", Bytes: 2000}}},
		"HPE's smart storage": {func(d map[string]map[string]any) {
			delete(d[partsSystem], "Storage")
			d[partsSystem]["Oem"] = document{
				"Hpe": document{"Links": document{"SmartStorage": link(partsSystem + "/SmartStorage")}},
			}
			d[partsSystem+"/SmartStorage"] = document{"Links": document{"ArrayControllers": link(array)}}
			d[array] = members(array + "/0")
			d[array+"/0"] = document{"Links": document{"PhysicalDrives": link(array + "/0/DiskDrives")}}
			d[array+"/0/DiskDrives"] = members(array + "/0/DiskDrives/0")
			d[array+"/0/DiskDrives/0"] = document{"Name": "HpeSmartStorageDiskDrive", "CapacityMiB": 1024,
				"InterfaceType": "SATA",
				"MediaType":     "SSD"}
		}, []node.Disk{{Name: "HpeSmartStorageDiskDrive", Bytes: 1 << 30, Transport: "sata"}}},
		"the chassis": {func(d map[string]map[string]any) {
			delete(d[partsSystem], "Storage")
			d[partsSystem]["Links"] = document{"Chassis": []any{link(partsChassis)}}
			d[partsChassis] = document{"Drives": link(partsChassis + "/Drives")}
			d[partsChassis+"/Drives"] = members(partsChassis + "/Drives/0")
			d[partsChassis+"/Drives/0"] = document{"Id": "0", "CapacityBytes": 4096, "Protocol": "PCIe"}
		}, []node.Disk{{Name: "0", Bytes: 4096, Transport: "nvme"}}},
	} {
		if diff := cmp.Diff(tc.want, readParts(t, tc.change).Disks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCards: names, addresses, speeds and links come from several places.
func TestCards(t *testing.T) {
	yes, no := true, false
	const adapter = partsChassis + "/NetworkAdapters/A"
	adapters := func(d map[string]map[string]any) {
		d[partsSystem]["Links"] = document{"Chassis": []any{link(partsChassis)}}
		d[partsChassis] = document{"NetworkAdapters": link(partsChassis + "/NetworkAdapters")}
		d[partsChassis+"/NetworkAdapters"] = members(adapter)
		d[adapter] = document{"Manufacturer": "Anvil", "Model": "25G", "NetworkDeviceFunctions": link(adapter + "/F"),
			"NetworkPorts": link(adapter + "/P"), "Ports": link(adapter + "/gone")}
		d[adapter+"/F"] = members(adapter+"/F/0", adapter+"/F/1")
		d[adapter+"/F/0"] = document{"Id": "0", "Ethernet": document{"MACAddress": "02:50:A1:00:00:01"}}
		d[adapter+"/F/1"] = document{"Id": "NIC.2", "Ethernet": document{"PermanentMACAddress": "02-50-A1-00-00-02"}}
		d[adapter+"/P"] = members(adapter + "/P/0")
		d[adapter+"/P/0"] = document{"AssociatedNetworkAddresses": []any{"0250A1000002", 7}, "LinkStatus": "Up",
			"CurrentLinkSpeedMbps": "25000"}
	}
	for name, tc := range map[string]struct {
		change func(d map[string]map[string]any)
		want   []node.Card
	}{
		"a number for an Id": {func(map[string]map[string]any) {},
			[]node.Card{{Name: "nic1", MAC: "02:50:a1:00:00:01", SpeedMbps: 1000, Link: &yes}}},
		"a name of its own": {func(d map[string]map[string]any) {
			d[partsSystem+"/EthernetInterfaces/1"] = document{"Id": "1", "Name": "OnBoard LAN 1", "LinkStatus": "LinkDown",
				"PermanentMACAddress": "02:50:a1:00:00:09", "MACAddress": "02:50:a1:00:00:01", "SpeedMbps": nil}
		}, []node.Card{{Name: "OnBoard LAN 1", MAC: "02:50:a1:00:00:01", Link: &no}}},
		"one card by two addresses": {func(d map[string]map[string]any) {
			adapters(d)
			d[partsSystem+"/EthernetInterfaces/1"] = document{"Id": "1", "MACAddress": "02:50:a1:00:00:09",
				"PermanentMACAddress": "02:50:a1:00:00:01"}
		}, []node.Card{{Name: "nic1", MAC: "02:50:a1:00:00:09", Description: "Anvil 25G"},
			{Name: "NIC.2", MAC: "02:50:a1:00:00:02", SpeedMbps: 25000, Link: &yes, Description: "Anvil 25G"}}},
		"words for none": {func(d map[string]map[string]any) {
			d[partsSystem+"/EthernetInterfaces"] = members(partsSystem+"/EthernetInterfaces/1",
				partsSystem+"/EthernetInterfaces/2")
			d[partsSystem+"/EthernetInterfaces/1"] = document{"Id": "1", "MACAddress": "Not Available"}
			d[partsSystem+"/EthernetInterfaces/2"] = document{"Id": "2", "MACAddress": "N/A",
				"PermanentMACAddress": "02:50:a1:00:00:02"}
		}, []node.Card{{Name: "nic2", MAC: "02:50:a1:00:00:02"}}},
		"addresses that are none": {func(d map[string]map[string]any) {
			d[partsSystem+"/EthernetInterfaces"] = members(partsSystem+"/EthernetInterfaces/1",
				partsSystem+"/EthernetInterfaces/2")
			d[partsSystem+"/EthernetInterfaces/1"]["MACAddress"] = "00:00:00:00:00:00"
			d[partsSystem+"/EthernetInterfaces/2"] = document{"Id": "2", "MACAddress": "80:00:02:08:fe:80:00:00"}
		}, nil},
		"a speed with a fraction": {func(d map[string]map[string]any) {
			adapters(d)
			d[adapter+"/P/0"] = document{"AssociatedNetworkAddresses": []any{"0250A1000002"}, "CurrentSpeedGbps": 2.5}
		}, []node.Card{
			{Name: "nic1", MAC: "02:50:a1:00:00:01", SpeedMbps: 1000, Link: &yes, Description: "Anvil 25G"},
			{Name: "NIC.2", MAC: "02:50:a1:00:00:02", SpeedMbps: 2500, Description: "Anvil 25G"}}},
		"adapters": {adapters, []node.Card{
			{Name: "nic1", MAC: "02:50:a1:00:00:01", SpeedMbps: 1000, Link: &yes, Description: "Anvil 25G"},
			{Name: "NIC.2", MAC: "02:50:a1:00:00:02", SpeedMbps: 25000, Link: &yes, Description: "Anvil 25G"}}},
	} {
		p := readParts(t, tc.change)
		if diff := cmp.Diff(tc.want, p.Cards); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "adapters" && !strings.Contains(strings.Join(p.Incomplete, ";"), "network ports: ") {
			t.Errorf("a list that is not there is not noted: %v", p.Incomplete)
		}
	}
}

// TestModules: memory, processors and PCI functions.
func TestModules(t *testing.T) {
	p := readParts(t, func(d map[string]map[string]any) {
		d[partsSystem]["Processors"] = link(partsSystem + "/Processors")
		d[partsSystem+"/Processors"] = members(partsSystem+"/Processors/0", partsSystem+"/Processors/1",
			partsSystem+"/Processors/2", partsSystem+"/Processors/3")
		d[partsSystem+"/Processors/0"] = document{"ProcessorType": "CPU", "Model": "Anvil 9000", "MaxSpeedMHz": 3500}
		d[partsSystem+"/Processors/1"] = document{"ProcessorType": "GPU", "Model": "Forge"}
		d[partsSystem+"/Processors/2"] = document{"ProcessorType": "CPU", "Status": document{"State": "Absent"}}
		d[partsSystem+"/Processors/3"] = document{"ProcessorType": "CPU", "Status": document{"State": "Disabled"}}
		d[partsSystem+"/Memory"] = members(partsSystem+"/Memory/A1", partsSystem+"/Memory/A2", partsSystem+"/Memory/A3")
		d[partsSystem+"/Memory/A3"] = document{"Id": "A3", "CapacityMiB": 16384, "Status": document{"State": "Disabled"}}
		d[partsSystem+"/Memory/A2"] = document{"Id": "A2", "CapacityMiB": 0}
	})
	want := node.Parts{CPUModel: "Anvil 9000", CPUMHz: 3500, Sockets: 1,
		Memory: []node.MemoryModule{{Slot: "DIMM A1", MB: 16384, Type: "DDR4"}, {Slot: "A3", MB: 16384, Disabled: true}},
		PCI:    []node.PCIFunction{{Vendor: "8086", Product: "15b7", Class: "020000", Bus: "0-1f-2"}}}
	p.Cards, p.Disks, p.Controllers = nil, nil, nil
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPartsThatFail: a kind that the BMC cannot show loses no other, and is named.
func TestPartsThatFail(t *testing.T) {
	bmc := recordedtest.New(t, recordedtest.Small(), recorded.Config{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/Memory"):
			http.Error(w, "{}", http.StatusInternalServerError)
		case strings.HasSuffix(r.URL.Path, "/PCIeDevices/0"):
			_, _ = w.Write([]byte(`["a list"]`))
		default:
			bmc.ServeHTTP(w, r)
		}
	}))
	defer web.Close()
	d := redfish.New(redfish.Options{})
	defer func() { _ = d.Close() }()
	p, err := d.Parts(t.Context(), node.Node{UUID: "n1", DriverInfo: map[string]any{"redfish_address": web.URL}})
	said := strings.Join(p.Incomplete, "; ")
	if err != nil || len(p.Disks) != 1 || len(p.Memory) != 0 || !strings.Contains(said, "memory modules: ") ||
		!strings.Contains(said, "PCI devices: ") {
		t.Errorf("%v: %d disks; %s", err, len(p.Disks), said)
	}
}
