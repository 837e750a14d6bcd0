package translate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Drivers are the hardware types that are enabled on the other side: of each the interfaces by kind.
type Drivers map[string]map[string][]string

// Replacements are names to put in the place of others: of drivers, interfaces and more, by field.
type Replacements map[string]map[string]string

// replaceable are the fields that --replace knows; interfaces may be named without _interface.
var replaceable = []string{"driver", "conductor_group", "owner", "lessee", "bios_interface", "boot_interface",
	"console_interface", "deploy_interface", "firmware_interface", "inspect_interface", "management_interface",
	"network_interface", "power_interface", "raid_interface", "rescue_interface", "storage_interface", "vendor_interface"}

// ParseReplacements reads FIELD:OLD=NEW.
func ParseReplacements(args []string) (Replacements, error) {
	all := Replacements{}
	for _, arg := range args {
		field, rest, ok := strings.Cut(arg, ":")
		old, to, also := strings.Cut(rest, "=")
		if slices.Contains(replaceable, field+"_interface") {
			field += "_interface"
		}
		if !ok || !also || !slices.Contains(replaceable, field) || field == "driver" && to == "" {
			return nil, fmt.Errorf("--replace %q: expected FIELD:OLD=NEW, where FIELD is one of %s", arg,
				strings.Join(replaceable, ", "))
		}
		if all[field] == nil {
			all[field] = map[string]string{}
		}
		all[field][old] = to
	}
	return all, nil
}

func (r Replacements) of(field, name string) (string, bool) {
	to, ok := r[field][name]
	return to, ok
}

// standIn is a hardware type of Ironic that another one does for, where it is not enabled here.
type standIn struct {
	driver, by string
	settings   string // prefix of its keys of driver_info
	becomes    string // their new prefix
}

// standIns is THE table of hardware types. A vendor's BMC speaks Redfish as well.
var standIns = []standIn{
	{"idrac", "redfish", "drac_", "redfish_"},
	{"ilo", "redfish", "ilo_", "redfish_"},
	{"ilo5", "redfish", "ilo_", "redfish_"},
	{"irmc", "redfish", "irmc_", "redfish_"},
	{"xclarity", "redfish", "xclarity_", "redfish_"},
	{"ibmc", "redfish", "ibmc_", "redfish_"},
	{"intel-ipmi", "ipmi", "", ""},
}

// fallbacks is THE table of interfaces: the substitutes for an interface that is missing here, the nearest first.
var fallbacks = map[string][]string{
	"boot pxe": {"ipxe"}, "boot ipxe": {"pxe"}, "boot http": {"http-ipxe", "ipxe"}, "boot http-ipxe": {"ipxe"},
	"boot ilo-virtual-media": {"redfish-virtual-media"}, "boot idrac-redfish-virtual-media": {"redfish-virtual-media"},
	"boot irmc-virtual-media": {"redfish-virtual-media"}, "boot ilo-pxe": {"pxe", "ipxe"}, "boot ilo-ipxe": {"ipxe"},
	"boot irmc-pxe": {"pxe", "ipxe"}, "boot redfish-https": {"redfish-virtual-media"},
	"boot ilo-uefi-https": {"redfish-virtual-media"},
	"inspect inspector":   {"agent"}, "inspect idrac-redfish": {"redfish"},
	"inspect idrac-wsman": {"idrac-redfish", "redfish"},
	"inspect ilo":         {"redfish"}, "inspect irmc": {"redfish"},
	"bios idrac-redfish": {"redfish"}, "bios idrac-wsman": {"idrac-redfish", "redfish"}, "bios ilo": {"redfish"},
	"bios irmc":                {"redfish"},
	"management idrac-redfish": {"redfish"}, "management idrac-wsman": {"idrac-redfish", "redfish"},
	"management ilo": {"redfish"}, "management ilo5": {"redfish"}, "management irmc": {"redfish"},
	"management ibmc": {"redfish"}, "management xclarity": {"redfish"}, "management intel-ipmitool": {"ipmitool"},
	"power idrac-redfish": {"redfish"}, "power idrac-wsman": {"idrac-redfish", "redfish"}, "power ilo": {"redfish"},
	"power irmc": {"redfish"}, "power ibmc": {"redfish"}, "power xclarity": {"redfish"},
	"raid idrac-redfish": {"redfish"}, "raid idrac-wsman": {"idrac-redfish", "redfish"}, "raid ilo5": {"redfish"},
	"raid irmc": {"redfish"}, "raid ibmc": {"redfish"},
	"vendor idrac-redfish": {"redfish"}, "vendor idrac-wsman": {"idrac-redfish", "redfish"}, "vendor ilo": {"redfish"},
	"vendor irmc": {"redfish"}, "vendor ibmc": {"redfish"},
	"deploy iscsi": {"direct"}, "deploy ansible": {"direct"}, "deploy anaconda": {"direct"}, "deploy bootc": {"direct"},
	"deploy autodetect": {"direct"},
	"network neutron":   {"flat"}, "storage cinder": {"noop"}, "storage external": {"noop"},
}

// driver puts the hardware type and the interfaces in the place of those that are not there.
func (n *Node) driver(r, out Record, o Options) {
	driver := text(r, "driver")
	if to, ok := o.Replace.of("driver", driver); ok {
		n.note("driver %s becomes %s (--replace)", driver, to)
		n.settings(out, driver, to)
		driver = to
	}
	if o.Drivers[driver] == nil {
		if i := slices.IndexFunc(standIns, func(s standIn) bool { return s.driver == driver }); i >= 0 {
			by := standIns[i].by
			n.note("driver %s becomes %s", driver, by)
			n.settings(out, driver, by)
			driver = by
		}
	}
	out["driver"] = driver
	offered := o.Drivers[driver]
	if offered == nil {
		n.Skip = fmt.Sprintf("its driver %s is not enabled here (enabled: %s): enable it, or name another with --replace "+
			"driver:%[1]s=NEW", driver, strings.Join(slices.Sorted(maps.Keys(o.Drivers)), ", "))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r)) {
		kind, isInterface := strings.CutSuffix(key, "_interface")
		name := text(r, key)
		if !isInterface || name == "" {
			continue
		}
		if to, ok := o.Replace.of(key, name); ok {
			n.note("%s %s becomes %s (--replace)", key, name, cmp.Or(to, "the default"))
			name = to
		}
		if name = n.implementation(kind, name, offered); name != "" {
			out[key] = name
		}
	}
}

// implementation is an interface under a name that is there; "" for the default.
func (n *Node) implementation(kind, name string, offered map[string][]string) string {
	names, known := offered[kind]
	if name == "" || slices.Contains(names, name) {
		return name
	}
	if !known {
		if !strings.HasPrefix(name, "no-") && name != "noop" {
			n.note("%s_interface %s is left out: there is no such kind of interface here", kind, name)
		}
		return ""
	}
	if strings.HasPrefix(name, "no-") { // switched off there, and cannot be here
		n.note("%s_interface %s is not there and becomes the default", kind, name)
		return ""
	}
	for _, other := range fallbacks[kind+" "+name] {
		if slices.Contains(names, other) {
			n.note("%s_interface %s becomes %s%s", kind, name, other, consequence(kind, name))
			return other
		}
	}
	n.note("%s_interface %s is not there and becomes the default (there are: %s)", kind, name, strings.Join(names, ", "))
	return ""
}

// consequence explains to an operator the effect of a replacement.
func consequence(kind, name string) string {
	switch kind + " " + name {
	case "storage cinder", "storage external":
		return ": it cannot boot from its volumes here"
	case "deploy anaconda", "deploy ansible", "deploy bootc":
		return ": its next deploy needs a disk image"
	case "network neutron":
		return ": Neutron changes no switch for it; start the conductor with --neutron-networks, and import again"
	}
	return ""
}

// settings gives the settings of a vendor's BMC the names that the other hardware type has for them.
func (n *Node) settings(out Record, driver, by string) {
	i := slices.IndexFunc(standIns, func(s standIn) bool { return s.driver == driver && s.by == by })
	info, ok := out["driver_info"].(map[string]any)
	if i < 0 || !ok || standIns[i].settings == "" {
		return
	}
	s, renamed := standIns[i], map[string]any{}
	for key, value := range info {
		if name, ok := strings.CutPrefix(key, s.settings); ok {
			if _, taken := info[s.becomes+name]; !taken {
				key = s.becomes + name
			}
		}
		renamed[key] = value
	}
	out["driver_info"] = renamed
}

// Interfaces are the enabled interfaces of a driver, by kind, as GET /v1/drivers?detail=True shows them.
func Interfaces(driver map[string]json.RawMessage) map[string][]string {
	all := map[string][]string{}
	for key, raw := range driver {
		kind, isKind := strings.CutPrefix(key, "enabled_")
		kind, isList := strings.CutSuffix(kind, "_interfaces")
		var names []string
		if isKind && isList && json.Unmarshal(raw, &names) == nil {
			all[kind] = names
		}
	}
	return all
}
