package bmccheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// reported compares the parts that the driver reports with the tree. A part that is in the tree is the driver's fault.
// When the BMC itself lacks a part that every machine has, the operation still works. Only an operation about the
// missing parts alone is not offered.
func (b *bench) reported(there map[string]bool) error {
	b.compared = true
	var lost, lacking []string
	for _, part := range slices.Sorted(maps.Keys(there)) {
		switch {
		case there[part]:
		case b.tree.Any(b.system, recordedParts[part]):
			lost = append(lost, part)
		default:
			lacking = append(lacking, part)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("not reported: %s, which the tree has", strings.Join(lost, ", "))
	}
	if slices.ContainsFunc(lacking, func(part string) bool { return slices.Contains(essential, part) }) {
		return node.Refuse(node.NotFound, "the tree has no %s", strings.Join(lacking, ", "))
	}
	return nil
}

// listed are the parts of operations that are not offered where the driver finds none.
var listed = map[string]map[string]bool{
	"parts":   {"network cards": false, "disks": false},
	"sensors": {"temperatures": false, "fans": false, "power readings": false},
}

// essential are the parts without which an operation is about nothing.
var essential = []string{"temperatures", "manufacturer", "UUID", "network cards", "disks", "processors"}

// recordedParts report whether a document of a tree has a part. They are looser than the driver.
var recordedParts = map[string]func(path string, doc map[string]any) bool{
	"manufacturer": func(_ string, doc map[string]any) bool {
		return is(doc, "ComputerSystem") && text(doc, "Manufacturer")
	},
	"UUID":           func(_ string, doc map[string]any) bool { return is(doc, "ComputerSystem") && text(doc, "UUID") },
	"memory":         func(_ string, doc map[string]any) bool { return is(doc, "Memory") && above(doc, "CapacityMiB") },
	"memory modules": func(_ string, doc map[string]any) bool { return is(doc, "Memory") && above(doc, "CapacityMiB") },
	"processors": func(_ string, doc map[string]any) bool {
		return is(doc, "Processor") && doc["ProcessorType"] == "CPU"
	},
	"MAC addresses": func(_ string, doc map[string]any) bool { return is(doc, "EthernetInterface") && mac(doc) },
	"network cards": func(_ string, doc map[string]any) bool { return is(doc, "EthernetInterface") && mac(doc) },
	"speeds of cards": func(_ string, doc map[string]any) bool {
		return is(doc, "EthernetInterface") && above(doc, "SpeedMbps")
	},
	"PCI devices":    func(_ string, doc map[string]any) bool { return is(doc, "PCIeFunction") && text(doc, "VendorId") },
	"temperatures":   measures("Temperatures", "ReadingCelsius", "Temperature"),
	"fans":           measures("Fans", "Reading", "Rotational"),
	"power readings": measures("PowerControl", "PowerConsumedWatts", "Power"),
	"disks": func(_ string, doc map[string]any) bool {
		return (is(doc, "Drive") || is(doc, "HpeSmartStorageDiskDrive")) &&
			(above(doc, "CapacityBytes") || above(doc, "CapacityMiB"))
	},
}

func measures(list, value, kind string) func(path string, doc map[string]any) bool {
	return func(_ string, doc map[string]any) bool {
		if is(doc, "Sensor") {
			return doc["ReadingType"] == kind && above(doc, "Reading")
		}
		all, _ := doc[list].([]any)
		return slices.ContainsFunc(all, func(one any) bool {
			entry, is := one.(map[string]any)
			return is && above(entry, value)
		})
	}
}

func is(doc map[string]any, kind string) bool {
	of, _ := doc["@odata.type"].(string)
	return strings.HasPrefix(of, "#"+kind+".")
}

func text(doc map[string]any, key string) bool {
	s, _ := doc[key].(string)
	return s != ""
}

func above(doc map[string]any, key string) bool {
	n, is := doc[key].(json.Number)
	v, err := n.Float64()
	return is && err == nil && v > 0
}

func mac(doc map[string]any) bool { return text(doc, "MACAddress") || text(doc, "PermanentMACAddress") }
