package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// capability is the value of a capability in properties or instance_info.
func capability(m map[string]any, name string) string {
	list, object := node.ReadCapabilities(m["capabilities"])
	if object == nil {
		return node.Capability(list, name)
	}
	return text(object, name)
}

// capabilityLine is capabilities as a line of text, to be edited. The node's own are text to Ironic and to schedulers.
func capabilityLine(m map[string]any) string {
	line, object := node.ReadCapabilities(m["capabilities"])
	for _, name := range slices.Sorted(maps.Keys(object)) {
		line = node.SetCapability(line, name, text(object, name))
	}
	return line
}

// wantedCapability returns the value that the instance requests, or else the node.
func wantedCapability(n node.Node, name string) string {
	for _, m := range []map[string]any{n.InstanceInfo, n.Properties} {
		if value := capability(m, name); value != "" {
			return value
		}
	}
	return ""
}

// wantedBootMode is uefi, bios or, if none is requested, "".
func wantedBootMode(n node.Node) string { return wantedCapability(n, "boot_mode") }

// BootModeOf is how the instance boots: as it or the node asks for, else as the
// machine is set; "" when neither is known.
func BootModeOf(n node.Node) string {
	if mode := wantedBootMode(n); mode != "" {
		return mode
	}
	return n.BootMode
}

// capabilityValues are the values that capabilities may have, as in Ironic (SUPPORTED_CAPABILITIES).
var capabilityValues = []struct {
	name   string
	values []string
}{
	{"boot_mode", BootModes()}, {"secure_boot", []string{"true", "false"}},
	{"disk_label", []string{"msdos", "gpt"}},
}

// capabilitiesFit refuses a deploy with a capability that has another value: it would be ignored.
func capabilitiesFit(n node.Node) error {
	for _, c := range capabilityValues {
		for field, info := range map[string]map[string]any{"instance_info": n.InstanceInfo, "properties": n.Properties} {
			if v := capability(info, c.name); v != "" && !slices.Contains(c.values, v) {
				return node.Refuse(node.Invalid, "node %s cannot be deployed: the capability %s in %s is %q, expected %s", n.UUID,
					c.name, field, v, strings.Join(c.values, " or "))
			}
		}
	}
	return nil
}
