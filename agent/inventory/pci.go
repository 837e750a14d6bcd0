package inventory

import (
	"io/fs"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// PCIDevices lists every function on the PCI buses (collector pci-devices).
func PCIDevices(fsys fs.FS) []agentapi.PCIDevice {
	var list []agentapi.PCIDevice
	for _, address := range names(fsys, "sys/bus/pci/devices") {
		id := func(name string) string {
			return strings.TrimPrefix(text(fsys, "sys/bus/pci/devices", address, name), "0x")
		}
		list = append(list, agentapi.PCIDevice{
			VendorID: id("vendor"), ProductID: id("device"), Class: id("class"), Revision: id("revision"), Bus: address,
			NUMANode: text(fsys, "sys/bus/pci/devices", address, "numa_node"),
		})
	}
	return list
}
