package plan

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// inventoryOf returns the inventory of the ramdisk's data, unchanged: it may hold more fields than we know.
func inventoryOf(raw json.RawMessage) json.RawMessage {
	var doc struct {
		Inventory json.RawMessage `json:"inventory"`
	}
	if json.Unmarshal(raw, &doc) != nil || doc.Inventory == nil {
		return json.RawMessage("{}")
	}
	return doc.Inventory
}

// SkippedDisks is the key in the plugin data of the block devices that the agent skipped as disks, with the reasons
// ([]agentapi.SkippedDisk).
const SkippedDisks = "ferrite_skipped_disks"

// pluginDataOf returns the data that Ironic's validate-interfaces hook stores beside the inventory, and the parts of
// the body that are not inventory.
func pluginDataOf(data agentapi.Inspection) json.RawMessage {
	type iface struct {
		agentapi.Interface
		PXEEnabled bool `json:"pxe_enabled"`
	}
	all, valid, macs := map[string]iface{}, map[string]iface{}, []string{}
	boot := bootMAC(data.BootInterface)
	for _, i := range data.Inventory.Interfaces {
		f := iface{i, i.MACAddress == boot}
		all[i.Name] = f
		if f.PXEEnabled || i.HasCarrier {
			valid[i.Name] = f
			macs = append(macs, i.MACAddress)
		}
	}
	doc := map[string]any{
		"all_interfaces": all, "valid_interfaces": valid, "macs": macs,
		"boot_interface": data.BootInterface, "root_disk": data.RootDisk,
		"configuration": data.Configuration, "pci_devices": data.PCIDevices,
	}
	if len(data.SkippedDisks) > 0 {
		doc[SkippedDisks] = data.SkippedDisks
	}
	raw, err := json.Marshal(doc)
	if err != nil { // only plain strings and numbers are in there
		return json.RawMessage("{}")
	}
	return raw
}
