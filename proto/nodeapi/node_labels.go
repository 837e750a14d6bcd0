package nodeapi

import (
	"slices"
	"strings"
)

// NodeLabel names one setting of a node for people. Errors of the API name it by its path; the CLI shows its flag, and
// the web interface the label of its form.
type NodeLabel struct {
	Path string // in the API: a field, or a field and a key, like instance_info/image_source
	Flag string // of the commands that set it, without dashes; "" for none of its own
	Form string // in the web interface; "" where no form has it
}

// nodeLabels is the table of settings that have other names than their field. The web interface's part is generated.
var nodeLabels = []NodeLabel{
	{"chassis_uuid", "chassis", ""},
	{"properties", "property", ""},
	{"instance_info/image_source", "image", "Image"},
	{"instance_info/image_checksum", "checksum", "Checksum"},
	{"instance_info/image_os_hash_algo", "checksum", "Checksum"},
	{"instance_info/image_os_hash_value", "checksum", "Checksum"},
	{"instance_info/image_disk_format", "image-format", "Format"},
	{"instance_info/root_device", "root-device", ""},
	{"driver_info/redfish_address", "", "Address of the BMC"},
	{"driver_info/redfish_username", "", "User of the BMC"},
	{"driver_info/redfish_password", "", "Password of the BMC"},
	{"driver_info/redfish_verify_ca", "", "Check the BMC’s certificate"},
	{"driver_info/redfish_system_id", "", "System, where the BMC has several"},
	{"driver_info/ipmi_address", "", "Address of the BMC"},
	{"driver_info/ipmi_username", "", "User of the BMC"},
	{"driver_info/ipmi_password", "", "Password of the BMC"},
	{"driver_info/ipmi_port", "", "Port of the BMC"},
}

// NodeLabels are the settings with names of their own.
func NodeLabels() []NodeLabel { return slices.Clone(nodeLabels) }

// FlagOf is the flag that sets a path of a node, as it is typed: --checksum, or --driver-info KEY. has reports whether
// the command has a flag. "" for none.
func FlagOf(path string, has func(flag string) bool) string {
	for _, l := range nodeLabels {
		if l.Path == path && l.Flag != "" && has(l.Flag) {
			return "--" + l.Flag
		}
	}
	field, key, of := strings.Cut(path, "/")
	for _, f := range nodeFields {
		if f.Name == field && f.Object && of && has(f.FlagName()) {
			return "--" + f.FlagName() + " " + key
		}
	}
	return ""
}
