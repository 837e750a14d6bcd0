package redfish_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestSystemGaps: the driver completes a system from other resources, in the shapes that BMCs give them.
func TestSystemGaps(t *testing.T) {
	option := func(path string) map[string]any { return map[string]any{"UefiDevicePath": path} }
	for name, tc := range map[string]struct {
		extra map[string]any
		want  func(s node.System) any
		is    any
	}{
		"the maker, by the chassis": {map[string]any{"Manufacturer": "", "Links": map[string]any{
			"Chassis": []any{link("/redfish/v1/Chassis/1")}},
			"/redfish/v1/Chassis/1": map[string]any{"Manufacturer": "NVIDIA", "SerialNumber": "C1"}},
			func(s node.System) any { return s.Manufacturer }, "NVIDIA"},
		"threads, which are text": {map[string]any{"ProcessorSummary": map[string]any{"Count": 2},
			"Processors": link("/redfish/v1/Systems/1/Processors"),
			"/redfish/v1/Systems/1/Processors": map[string]any{"Members": []any{link("/redfish/v1/Systems/1/Processors/1"),
				link("/redfish/v1/Systems/1/Processors/2"), link("/redfish/v1/Systems/1/Processors/3"),
				link("/redfish/v1/Systems/1/Processors/gone")}},
			"/redfish/v1/Systems/1/Processors/1": map[string]any{"ProcessorType": "CPU", "TotalThreads": 64, "TotalCores": "32"},
			"/redfish/v1/Systems/1/Processors/2": map[string]any{"TotalThreads": nil, "TotalCores": "32"},
			"/redfish/v1/Systems/1/Processors/3": map[string]any{"ProcessorType": "GPU", "TotalCores": 9999}},
			func(s node.System) any { return s.CPUs }, 96},
		"threads, of processors that are used": {map[string]any{"ProcessorSummary": nil,
			"Processors": link("/redfish/v1/Systems/1/Processors"),
			"/redfish/v1/Systems/1/Processors": map[string]any{"Members": []any{link("/redfish/v1/Systems/1/Processors/1"),
				link("/redfish/v1/Systems/1/Processors/2"), link("/redfish/v1/Systems/1/Processors/3"),
				link("/redfish/v1/Systems/1/Processors/4")}},
			"/redfish/v1/Systems/1/Processors/1": map[string]any{"TotalThreads": 32,
				"Status": map[string]any{"State": "Disabled"}},
			"/redfish/v1/Systems/1/Processors/2": map[string]any{"TotalThreads": 32,
				"Status": map[string]any{"State": "Enabled"}},
			"/redfish/v1/Systems/1/Processors/3": map[string]any{"TotalThreads": 32,
				"Status": map[string]any{"State": "Absent"}},
			"/redfish/v1/Systems/1/Processors/4": map[string]any{"TotalThreads": 32,
				"Status": map[string]any{"State": "StandbyOffline"}}},
			func(s node.System) any { return s.CPUs }, 64},
		"threads, where all processors are disabled": {map[string]any{"ProcessorSummary": nil,
			"Processors":                       link("/redfish/v1/Systems/1/Processors"),
			"/redfish/v1/Systems/1/Processors": map[string]any{"Members": []any{link("/redfish/v1/Systems/1/Processors/1")}},
			"/redfish/v1/Systems/1/Processors/1": map[string]any{"TotalThreads": 32,
				"Status": map[string]any{"State": "Disabled"}}},
			func(s node.System) any { return s.CPUs }, 32},
		"threads that the system counts": {map[string]any{"ProcessorSummary": map[string]any{"LogicalProcessorCount": 8},
			"Processors":                         link("/redfish/v1/Systems/1/Processors"),
			"/redfish/v1/Systems/1/Processors":   map[string]any{"Members": []any{link("/redfish/v1/Systems/1/Processors/1")}},
			"/redfish/v1/Systems/1/Processors/1": map[string]any{"TotalThreads": 4}},
			func(s node.System) any { return s.CPUs }, 8},
		"cards, by the boot options": {map[string]any{"EthernetInterfaces": nil, "Boot": map[string]any{
			"BootOptions": link("/redfish/v1/Systems/1/BootOptions")},
			"/redfish/v1/Systems/1/BootOptions": map[string]any{"Members": []any{link("/redfish/v1/Systems/1/BootOptions/1"),
				link("/redfish/v1/Systems/1/BootOptions/2"), link("/redfish/v1/Systems/1/BootOptions/3"),
				link("/redfish/v1/Systems/1/BootOptions/4")}},
			"/redfish/v1/Systems/1/BootOptions/1": option("PciRoot(0x2)/Pci(0x0,0x0)/MAC(0250A1000001,0x1)/IPv4(0.0.0.0)"),
			"/redfish/v1/Systems/1/BootOptions/2": option("PciRoot(0x2)/Pci(0x0,0x0)/MAC(0250A1000001,0x1)/IPv6(::)"),
			"/redfish/v1/Systems/1/BootOptions/3": option("PciRoot(0x1)/USB(0x4,0x0)/USB(0x0,0x0)/MAC(0250A1000009,0x1)"),
			"/redfish/v1/Systems/1/BootOptions/4": option("PciRoot(0x2)/Pci(0x0,0x1)/MAC(0250a1000002,0x1)/Uri()")},
			func(s node.System) any { return s.MACs }, []string{"02:50:a1:00:00:01", "02:50:a1:00:00:02"}},
		"cards, by the ports of adapters": { // Lenovo's XCC: dsx-ai-factory/infra-controller#4436
			map[string]any{"EthernetInterfaces": link("/redfish/v1/Systems/1/EthernetInterfaces"),
				"/redfish/v1/Systems/1/EthernetInterfaces": map[string]any{"Members": []any{}},
				"Links":                     map[string]any{"Chassis": []any{link("/redfish/v1/Chassis/1")}},
				"/redfish/v1/Chassis/1":     map[string]any{"NetworkAdapters": link("/redfish/v1/Chassis/1/A")},
				"/redfish/v1/Chassis/1/A":   map[string]any{"Members": []any{link("/redfish/v1/Chassis/1/A/1")}},
				"/redfish/v1/Chassis/1/A/1": map[string]any{"Ports": link("/redfish/v1/Chassis/1/A/1/Ports")},
				"/redfish/v1/Chassis/1/A/1/Ports": map[string]any{"Members": []any{
					link("/redfish/v1/Chassis/1/A/1/Ports/1")}},
				"/redfish/v1/Chassis/1/A/1/Ports/1": map[string]any{"Ethernet": map[string]any{
					"AssociatedMACAddresses": []any{"52:54:00:CC:00:01"}}}},
			func(s node.System) any { return s.MACs }, []string{"52:54:00:cc:00:01"}},
		"cards beside one that cannot be read, and one without an address": {
			map[string]any{"EthernetInterfaces": link("/redfish/v1/Systems/1/EthernetInterfaces"),
				"/redfish/v1/Systems/1/EthernetInterfaces": map[string]any{"Members": []any{
					link("/redfish/v1/Systems/1/EthernetInterfaces/1"), link("/redfish/v1/Systems/1/EthernetInterfaces/2"),
					link("/redfish/v1/Systems/1/EthernetInterfaces/3")}},
				"/redfish/v1/Systems/1/EthernetInterfaces/1": []any{"a"},
				"/redfish/v1/Systems/1/EthernetInterfaces/2": map[string]any{"MACAddress": "00:00:00:00:00:00",
					"PermanentMACAddress": "52:54:00:CC:00:02"},
				"/redfish/v1/Systems/1/EthernetInterfaces/3": map[string]any{"MACAddress": "ff:ff:ff:ff:ff:ff"}},
			func(s node.System) any { return s.MACs }, []string{"52:54:00:cc:00:02"}},
		"the architecture and the firmware of a Grace": { // NVIDIA GH200 and GB200, OpenBMC
			map[string]any{"ProcessorSummary": map[string]any{"Model": "ARMv9"},
				"/redfish/v1": map[string]any{"Systems": link("/redfish/v1/Systems"),
					"Links":         map[string]any{"Sessions": link("/redfish/v1/SessionService/Sessions")},
					"UpdateService": link("/redfish/v1/UpdateService")},
				"/redfish/v1/UpdateService": map[string]any{"FirmwareInventory": link("/redfish/v1/Firmware")},
				"/redfish/v1/Firmware": map[string]any{"Members": []any{link("/redfish/v1/Firmware/FW_BMC_0"),
					link("/redfish/v1/Firmware/UEFI")}},
				"/redfish/v1/Firmware/UEFI": map[string]any{"Version": "02.04.12"}},
			func(s node.System) any { return s.Architecture + " " + s.BIOSVersion }, "aarch64 02.04.12"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			b.extra = tc.extra
			s, err := newDriver(t, redfish.Options{}).System(t.Context(), b.node())
			if diff := cmp.Diff(tc.is, tc.want(s)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
