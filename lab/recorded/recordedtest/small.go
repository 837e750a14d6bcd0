// Package recordedtest has a small recorded BMC, written for tests: as little as each operation of
// the driver needs.
//
// It must not be imported by anything but tests.
package recordedtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type doc = map[string]any

func link(path string) doc { return doc{"@odata.id": path} }

func collection(paths ...string) doc {
	members := []any{}
	for _, p := range paths {
		members = append(members, link(p))
	}
	return doc{"Members": members, "Members@odata.count": len(members)}
}

// Small is the documents by path. Their Redfish is plain: one system with a BIOS, secure boot, a
// virtual CD, firmware, and a registry of one BIOS setting.
func Small() map[string]map[string]any {
	const v1, sys, bmc = "/redfish/v1", "/redfish/v1/Systems/1", "/redfish/v1/Managers/1"
	return map[string]map[string]any{
		v1: {"@odata.id": v1, "@odata.type": "#ServiceRoot.v1_9_0.ServiceRoot", "Id": "RootService",
			"Systems":  link(v1 + "/Systems"),
			"Managers": link(v1 + "/Managers"), "UpdateService": link(v1 + "/UpdateService"),
			"Registries": link(v1 + "/Registries"),
			"Links":      doc{"Sessions": link(v1 + "/SessionService/Sessions")}},
		v1 + "/Systems": collection(sys),
		sys: {"@odata.id": sys, "@odata.type": "#ComputerSystem.v1_13_0.ComputerSystem", "Id": "1", "Manufacturer": "Anvil",
			"Model": "A1", "UUID": "6aaf4df9-c601-5e47-a343-0856024bd9c3", "PowerState": "On", "IndicatorLED": "Off",
			"SerialConsole": doc{"SSH": doc{"ServiceEnabled": true, "Port": 2200}},
			"Status":        doc{"Health": "OK"}, "MemorySummary": doc{"TotalSystemMemoryGiB": 16},
			"ProcessorSummary": doc{"LogicalProcessorCount": 8}, "EthernetInterfaces": link(sys + "/EthernetInterfaces"),
			"Storage": link(sys + "/Storage"), "Memory": link(sys + "/Memory"),
			"PCIeDevices": []any{link(sys + "/PCIeDevices/0")},
			"Bios":        link("/redfish/v1/systems/1/bios"), // in small letters, as iLO has it
			"SecureBoot":  link(sys + "/SecureBoot"), "Links": doc{"ManagedBy": []any{link(bmc)},
				"Chassis": []any{link(v1 + "/Chassis/1")}},
			"Boot": doc{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None",
				"BootSourceOverrideMode":                            "UEFI",
				"BootSourceOverrideTarget@Redfish.AllowableValues":  []any{"None", "Pxe", "Hdd", "Cd"},
				"BootSourceOverrideEnabled@Redfish.AllowableValues": []any{"Disabled", "Once", "Continuous"}},
			"Actions": doc{"#ComputerSystem.Reset": doc{"target": sys + "/Actions/ComputerSystem.Reset",
				"ResetType@Redfish.AllowableValues": []any{"On", "ForceOff", "GracefulShutdown", "ForceRestart",
					"GracefulRestart"}}}},
		sys + "/EthernetInterfaces": collection(sys + "/EthernetInterfaces/1"),
		sys + "/EthernetInterfaces/1": {"@odata.type": "#EthernetInterface.v1_6_0.EthernetInterface", "Id": "1",
			"MACAddress": "02:50:a1:00:00:01", "SpeedMbps": 1000, "LinkStatus": "LinkUp"},
		sys + "/Storage":   collection(sys + "/Storage/0"),
		sys + "/Storage/0": {"Id": "0", "Drives": []any{link(sys + "/Storage/0/Drives/0")}},
		sys + "/Storage/0/Drives/0": {"@odata.type": "#Drive.v1_11_0.Drive", "Id": "0", "Name": "Bay 0", "MediaType": "SSD",
			"Protocol": "NVMe", "CapacityBytes": 256060514304},
		sys + "/Memory": collection(sys + "/Memory/A1"),
		sys + "/Memory/A1": {"@odata.type": "#Memory.v1_10_0.Memory", "Id": "A1", "DeviceLocator": "DIMM A1",
			"CapacityMiB": 16384, "MemoryDeviceType": "DDR4"},
		sys + "/PCIeDevices/0":               {"Id": "0", "PCIeFunctions": link(sys + "/PCIeDevices/0/PCIeFunctions")},
		sys + "/PCIeDevices/0/PCIeFunctions": collection(sys + "/PCIeDevices/0/PCIeFunctions/0"),
		sys + "/PCIeDevices/0/PCIeFunctions/0": {"@odata.type": "#PCIeFunction.v1_2_3.PCIeFunction", "Id": "0-1f-2",
			"VendorId": "0x8086", "DeviceId": "0x15B7", "ClassCode": "0x020000"},
		sys + "/Bios": {"@odata.id": sys + "/Bios", "Id": "Bios", "AttributeRegistry": "AnvilBios.1.0.0",
			"Attributes": doc{"Turbo": "Enabled"}, "@Redfish.Settings": doc{"SettingsObject": link(sys + "/Bios/Settings")}},
		sys + "/Bios/Settings": {"@odata.id": sys + "/Bios/Settings", "Id": "Settings", "Attributes": doc{}},
		sys + "/SecureBoot": {"@odata.id": sys + "/SecureBoot", "Id": "SecureBoot", "SecureBootEnable": false,
			"SecureBootCurrentBoot": "Disabled"},
		v1 + "/Chassis/1": {"Id": "1", "Thermal": link(v1 + "/Chassis/1/Thermal"), "Power": link(v1 + "/Chassis/1/Power")},
		v1 + "/Chassis/1/Thermal": {"Temperatures": []any{doc{"Name": "CPU", "ReadingCelsius": 41}},
			"Fans": []any{doc{"Name": "Fan 1", "Reading": 4200, "ReadingUnits": "RPM"}}},
		v1 + "/Chassis/1/Power": {"PowerControl": []any{doc{"Name": "Machine", "PowerConsumedWatts": 120}}},
		v1 + "/Managers":        collection(bmc),
		bmc: {"@odata.id": bmc, "Id": "1", "FirmwareVersion": "1.0",
			"VirtualMedia": link(bmc + "/VirtualMedia")},
		bmc + "/VirtualMedia": collection(bmc + "/VirtualMedia/1"),
		bmc + "/VirtualMedia/1": {"@odata.id": bmc + "/VirtualMedia/1", "Id": "1", "MediaTypes": []any{"CD"},
			"Inserted": false,
			"Image":    nil, "Actions": doc{
				"#VirtualMedia.InsertMedia": doc{"target": bmc + "/VirtualMedia/1/Actions/VirtualMedia.InsertMedia"},
				"#VirtualMedia.EjectMedia":  doc{"target": bmc + "/VirtualMedia/1/Actions/VirtualMedia.EjectMedia"}}},
		v1 + "/UpdateService":                       {"FirmwareInventory": link(v1 + "/UpdateService/FirmwareInventory")},
		v1 + "/UpdateService/FirmwareInventory":     collection(v1 + "/UpdateService/FirmwareInventory/BMC"),
		v1 + "/UpdateService/FirmwareInventory/BMC": {"Id": "BMC", "Name": "BMC", "Version": "1.0"},
		v1 + "/Registries":                          collection(v1 + "/Registries/AnvilBios"),
		v1 + "/Registries/AnvilBios": {"Id": "AnvilBios", "Registry": "AnvilBios.1.0.0",
			"Location": []any{doc{"Language": "en", "Uri": v1 + "/Registries/AnvilBios/1"}}},
		v1 + "/Registries/AnvilBios/1": {"Id": "AnvilBios.1.0.0", "RegistryEntries": doc{"Attributes": []any{
			doc{"AttributeName": "Turbo", "Type": "Enumeration", "ReadOnly": false,
				"Value": []any{doc{"ValueName": "Enabled"}, doc{"ValueName": "Disabled"}}}}}},
	}
}

// Folder writes documents below a folder, and returns the folder. The folder contains redfish/v1; with at, the folder
// itself is the service root.
func Folder(t testing.TB, docs map[string]map[string]any, at bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "anvil")
	for path, d := range docs {
		if at {
			path = path[len("/redfish/v1"):]
		}
		folder := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "index.json"), encode(t, d), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Archive writes documents as a .tar.gz, with names as they are given, and answers it.
func Archive(t testing.TB, docs map[string]map[string]any) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for _, path := range slices.Sorted(maps.Keys(docs)) {
		text := encode(t, docs[path])
		h := &tar.Header{Name: "anvil" + path + "/index.json", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []func() error{w.Close, z.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "anvil.tar.gz")
	if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func encode(t testing.TB, d map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
