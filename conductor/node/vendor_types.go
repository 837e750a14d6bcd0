package node

import (
	"fmt"
	"slices"
	"strings"
)

// vendorType is a hardware type of Ironic for the machines of one vendor. Their BMCs speak Redfish,
// so such a type works as redfish does, under the names that an inventory made for Ironic has.
type vendorType struct {
	name       string
	settings   string              // the prefix of its driver_info keys, instead of redfish_
	interfaces map[string][]string // its own names, the default first; each stands for one of redfish's
}

// vendorTypes have the names of Ironic's hardware types and interfaces (ironic/drivers, "hardware
// types and interfaces" of its administration guide; xclarity until 2023.1).
var vendorTypes = []vendorType{
	{"idrac", "drac_", map[string][]string{
		"bios": {"idrac-redfish"}, "boot": {"idrac-redfish-virtual-media"}, "inspect": {"idrac-redfish"},
		"management": {"idrac-redfish"}, "power": {"idrac-redfish"}, "raid": {"idrac-redfish"}, "vendor": {"idrac-redfish"},
	}},
	{"ilo", "ilo_", map[string][]string{
		"bios": {"ilo"}, "boot": {"ilo-virtual-media", "ilo-ipxe", "ilo-pxe"}, "inspect": {"ilo"},
		"management": {"ilo"}, "power": {"ilo"}, "vendor": {"ilo"},
	}},
	{"ilo5", "ilo_", map[string][]string{
		"bios": {"ilo"}, "boot": {"ilo-virtual-media", "ilo-ipxe", "ilo-pxe", "ilo-uefi-https"},
		"inspect": {"ilo"}, "management": {"ilo5"}, "power": {"ilo"}, "raid": {"ilo5"}, "vendor": {"ilo"},
	}},
	{"irmc", "irmc_", map[string][]string{
		"bios": {"irmc"}, "boot": {"irmc-virtual-media", "irmc-pxe"}, "inspect": {"irmc"}, "management": {"irmc"},
		"power": {"irmc"}, "raid": {"irmc"}, "vendor": {"irmc"},
	}},
	{"xclarity", "xclarity_", map[string][]string{"management": {"xclarity"}, "power": {"xclarity"}}},
}

// standsFor has the name of redfish's interface for each of a vendor's.
var standsFor = map[string]string{
	"idrac-redfish": "redfish", "ilo": "redfish", "ilo5": "redfish", "irmc": "redfish", "xclarity": "redfish",
	"ilo-ipxe": "ipxe", "ilo-pxe": "pxe", "irmc-pxe": "pxe", "ilo-uefi-https": "http",
	"idrac-redfish-virtual-media": "redfish-virtual-media", "ilo-virtual-media": "redfish-virtual-media",
	"irmc-virtual-media": "redfish-virtual-media",
}

// vendorHardware makes the hardware types of vendors. A boot interface of their own is not the
// default: ipxe is, as for redfish.
func vendorHardware(redfish HardwareType) []HardwareType {
	var all []HardwareType
	for _, v := range vendorTypes {
		of := HardwareType{Name: v.name, Interfaces: map[string][]string{}}
		for kind, names := range redfish.Interfaces {
			if kind == "boot" {
				of.Interfaces[kind] = slices.Concat(names, v.interfaces[kind])
				continue
			}
			of.Interfaces[kind] = slices.Concat(v.interfaces[kind], names)
		}
		all = append(all, of)
	}
	return all
}

// BaseType is the hardware type that another one stands for: redfish for idrac, ilo, ilo5, irmc and
// xclarity, each other for itself.
func BaseType(hardwareType string) string {
	if slices.ContainsFunc(vendorTypes, func(v vendorType) bool { return v.name == hardwareType }) {
		return "redfish"
	}
	return hardwareType
}

// VendorTypes are the names of the hardware types that stand for another one.
func VendorTypes() []string {
	var names []string
	for _, v := range vendorTypes {
		names = append(names, v.name)
	}
	return names
}

// Implementation returns the implementation of a kind of interface under our name, which replaces the vendor's name.
func (n *Node) Implementation(kind string) string {
	name := n.Interfaces[kind]
	if base, ok := standsFor[name]; ok {
		return base
	}
	return name
}

// BMCSettingOf finds a setting of driver_info by redfish's key. Where that is not set and the
// node's hardware type has a key of its own for the same, such as ilo_address, it answers that key
// and its value.
func (n *Node) BMCSettingOf(key string) (written string, value any) {
	if value, ok := n.DriverInfo[key]; ok && value != nil {
		return key, value
	}
	for _, v := range vendorTypes {
		if v.name != n.Driver {
			continue
		}
		own := v.settings + strings.TrimPrefix(key, "redfish_")
		if value, ok := n.DriverInfo[own]; ok && value != nil {
			return own, value
		}
	}
	return key, nil
}

// bmcText is BMCSettingOf as text without spaces around it.
func (n *Node) bmcText(key string) string {
	_, value := n.BMCSettingOf(key)
	if value == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(value))
}
