package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// sign is an oddity that a single document shows by a missing property or by a value. Each property is of the right
// kind: the driver notes the others. The reports that its row names have shown it.
type sign struct {
	kind  string // of the documents that may have it: the part of @odata.type behind #, as ComputerSystem
	field string
	done  string                          // by Ferrite
	found func(doc map[string]any) string // in words; "" where the document does not have it
}

// signs are in the order of a machine's life.
var signs = []sign{
	{"ComputerSystem", "PowerState", "asked again until it is On or Off; nothing is pressed twice", // Redfish: may be null
		func(doc map[string]any) string {
			switch state, is := doc["PowerState"].(string); {
			case !is:
				return "no state"
			case state != "On" && state != "Off":
				return fmt.Sprintf("%.40q", state)
			}
			return ""
		}},
	{"ComputerSystem", "Boot.BootSourceOverrideMode", // ironcore-dev/metal-operator#982: Supermicro X10
		"the boot mode stays as it is, and a deployment continues",
		func(doc map[string]any) string {
			if boot, is := doc["Boot"].(map[string]any); is && boot["BootSourceOverrideMode"] != nil {
				return ""
			}
			return "missing"
		}},
	{"EthernetInterface", "MACAddress", "PermanentMACAddress is taken, or none", // dsx-ai-factory/infra-controller#4534
		func(doc map[string]any) string {
			mac, is := doc["MACAddress"].(string)
			if !is || placeholder.MAC(mac) != "" {
				return ""
			}
			return cmp.Or(fmt.Sprintf("%.20q", mac), "empty")
		}},
	{"EthernetInterfaceCollection", "Members", "cards are looked for at NetworkAdapters and boot options",
		func(doc map[string]any) string { // dsx-ai-factory/infra-controller#4436: Lenovo XCC
			if members, is := doc["Members"].([]any); is && len(members) > 0 {
				return ""
			}
			return "empty"
		}},
}

// signsIn looks for the signs in the documents of a system that were read, in the order of their paths.
func signsIn(docs map[string]map[string]any, system string) (all []redfish.Oddity) {
	for _, path := range slices.Sorted(maps.Keys(docs)) {
		typed, _ := docs[path]["@odata.type"].(string)
		kind, _, _ := strings.Cut(strings.TrimPrefix(typed, "#"), ".")
		settings := kind == "ComputerSystem" && path != system // AMI: the settings for the next start
		if settings || !strings.HasPrefix(path+"/", system+"/") {
			continue
		}
		for _, s := range signs {
			if s.kind != kind {
				continue
			}
			if found := s.found(docs[path]); found != "" {
				all = append(all, redfish.Oddity{Path: path, Field: s.field, Kind: found, Done: s.done})
			}
		}
	}
	return all
}
