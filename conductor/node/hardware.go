package node

import (
	"maps"
	"slices"
	"strings"
)

// HardwareType is a kind of machine: by interface kind, the implementations
// it can work with, the default first. Names and defaults are Ironic's.
type HardwareType struct {
	Name       string
	Interfaces map[string][]string
}

// Every implementation Ironic knows, by kind; fake-hardware takes them all.
var implementations = map[string][]string{
	"bios": {"fake", "no-bios", "redfish", "idrac-redfish", "ilo", "irmc"},
	"boot": {"fake", "ipxe", "pxe", "http", "http-ipxe", "redfish-virtual-media", "redfish-https",
		"idrac-redfish-virtual-media", "ilo-virtual-media", "ilo-pxe", "ilo-ipxe", "ilo-uefi-https",
		"irmc-virtual-media", "irmc-pxe"},
	"console": {"fake", "no-console", "ipmitool-socat", "ipmitool-shellinabox", "redfish-serial", "redfish-graphical",
		"fake-graphical"},
	"deploy": {"fake", "direct", "ramdisk", "custom-agent", "autodetect", "noop", "anaconda",
		"ansible", "bootc"},
	"firmware": {"fake", "no-firmware", "redfish"},
	"inspect":  {"fake", "no-inspect", "agent", "redfish", "inspector", "idrac-redfish", "ilo", "irmc"},
	"management": {"fake", "noop", "ipmitool", "redfish", "idrac-redfish", "ilo", "ilo5", "irmc", "intel-ipmitool",
		"xclarity"},
	"network": {"noop", "flat", "neutron", "fake"},
	"power":   {"fake", "ipmitool", "redfish", "idrac-redfish", "ilo", "irmc", "agent", "snmp", "xclarity"},
	"raid":    {"fake", "no-raid", "agent", "redfish", "idrac-redfish", "ilo5", "irmc"},
	"rescue":  {"fake", "no-rescue", "agent"},
	"storage": {"noop", "fake", "cinder", "external"},
	"vendor":  {"fake", "no-vendor", "ipmitool", "redfish", "idrac-redfish", "ilo", "irmc"},
}

// hardwareTypes are all that are known, enabled or not.
var hardwareTypes = slices.Concat([]HardwareType{
	{"fake-hardware", implementations}, redfishHardware,
	{"ipmi", map[string][]string{
		"bios":       {"no-bios"},
		"boot":       {"ipxe", "pxe", "http", "http-ipxe"},
		"console":    {"no-console", "ipmitool-socat", "ipmitool-shellinabox"},
		"deploy":     {"direct", "custom-agent", "ramdisk", "autodetect", "noop"},
		"firmware":   {"no-firmware"},
		"inspect":    {"no-inspect", "agent"},
		"management": {"ipmitool", "noop"},
		"network":    {"noop", "flat", "neutron"},
		"power":      {"ipmitool"},
		"raid":       {"no-raid", "agent"},
		"rescue":     {"no-rescue", "agent"},
		"storage":    {"noop"},
		"vendor":     {"ipmitool", "no-vendor"},
	}},
	{"manual-management", map[string][]string{
		"bios":       {"no-bios"},
		"boot":       {"ipxe", "pxe", "http", "http-ipxe"},
		"console":    {"no-console"},
		"deploy":     {"direct", "custom-agent", "ramdisk", "autodetect", "noop"},
		"firmware":   {"no-firmware"},
		"inspect":    {"agent", "no-inspect"},
		"management": {"noop"},
		"network":    {"noop", "flat", "neutron"},
		"power":      {"agent"},
		"raid":       {"no-raid", "agent"},
		"rescue":     {"no-rescue", "agent"},
		"storage":    {"noop"},
		"vendor":     {"no-vendor"},
	}},
}, vendorHardware(redfishHardware))

// redfishHardware is any machine with a Redfish BMC.
var redfishHardware = HardwareType{"redfish", map[string][]string{
	"bios":       {"redfish", "no-bios"},
	"boot":       {"ipxe", "pxe", "http", "http-ipxe", "redfish-virtual-media"},
	"console":    {"no-console", "redfish-serial", "ipmitool-socat", "ipmitool-shellinabox"},
	"deploy":     {"direct", "custom-agent", "ramdisk", "autodetect", "noop"},
	"firmware":   {"redfish", "no-firmware"},
	"inspect":    {"redfish", "agent", "no-inspect"},
	"management": {"redfish", "noop"},
	"network":    {"noop", "flat", "neutron"},
	"power":      {"redfish"},
	"raid":       {"redfish", "agent", "no-raid"},
	"rescue":     {"no-rescue", "agent"},
	"storage":    {"noop"},
	"vendor":     {"redfish", "no-vendor"},
}}

// HardwareTypes lists every hardware type there is.
func HardwareTypes() []HardwareType { return slices.Clone(hardwareTypes) }

// HardwareTypeByName finds a hardware type.
func HardwareTypeByName(name string) (HardwareType, bool) {
	i := slices.IndexFunc(hardwareTypes, func(h HardwareType) bool { return h.Name == name })
	if i < 0 {
		return HardwareType{}, false
	}
	return hardwareTypes[i], true
}

// Default names the implementation a node gets that asks for none; "" for an
// unknown kind.
func (h HardwareType) Default(kind string) string {
	if all := h.Interfaces[kind]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// WithDefaults is the hardware type with these implementations, by kind, as its defaults. Implementations that it does
// not support change nothing.
func (h HardwareType) WithDefaults(names map[string]string) HardwareType {
	ordered := make(map[string][]string, len(h.Interfaces))
	for kind, all := range h.Interfaces {
		ordered[kind] = all
		if name := names[kind]; slices.Contains(all, name) {
			others := slices.DeleteFunc(slices.Clone(all), func(other string) bool { return other == name })
			ordered[kind] = append([]string{name}, others...)
		}
	}
	return HardwareType{h.Name, ordered}
}

// Without is the hardware type without an implementation.
func (h HardwareType) Without(kind, name string) HardwareType {
	all := maps.Clone(h.Interfaces)
	all[kind] = slices.DeleteFunc(slices.Clone(all[kind]), func(one string) bool { return one == name })
	return HardwareType{h.Name, all}
}

// InterfaceKinds are the kinds of interfaces that a hardware type has, in the order of the alphabet.
func InterfaceKinds() []string { return slices.Sorted(maps.Keys(implementations)) }

// Supports reports whether the hardware type can work with an implementation.
func (h HardwareType) Supports(kind, name string) bool {
	return slices.Contains(h.Interfaces[kind], name)
}

// Off reports whether an interface of the node is switched off: Ironic's implementations named no-... refuse every
// request.
func (n *Node) Off(kind string) bool { return strings.HasPrefix(n.Interfaces[kind], "no-") }

// Idle reports whether nothing is done through an interface of the node: it is
// off, or noop, which is content with everything and does nothing.
func (n *Node) Idle(kind string) bool { return n.Off(kind) || n.Interfaces[kind] == "noop" }
