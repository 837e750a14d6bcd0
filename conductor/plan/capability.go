package plan

import (
	"encoding/json"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// capability is the value of a capability in properties or instance_info:
// "a:1,b:2", an object, or the text of an object, as Nova sends it.
func capability(m map[string]any, name string) string {
	caps := m["capabilities"]
	if s, ok := caps.(string); ok {
		var object map[string]any
		if json.Unmarshal([]byte(s), &object) != nil {
			return node.Capability(s, name)
		}
		caps = object
	}
	object, _ := caps.(map[string]any)
	return text(object, name)
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
