package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of notes about keys.
const (
	maxKeyNotes = 20 // of one place
	maxKeyName  = 64 // bytes of a name that is compared and shown
)

// KeyNotes names the keys of a node without an effect, by the kind of interface that they belong to: keys of Ironic
// that are not built, keys of another hardware type, and unknown keys. They are notes and no errors, because Ironic
// ignores an unknown key and a site may keep its own: the interface stays valid.
func (n *Node) KeyNotes() map[string][]string {
	notes := map[string][]string{}
	for _, place := range keyFields {
		n.noteKeys(notes, place.name, slices.Sorted(maps.Keys(*place.at(n))), string(place.name))
	}
	for _, of := range []struct {
		name string
		info map[string]any
	}{{"instance_info", n.InstanceInfo}, {"properties", n.Properties}} {
		n.noteKeys(notes, InCapabilities, capabilityNames(of.info["capabilities"]), of.name+"/capabilities")
	}
	return notes
}

// noteKeys stops at a bound: a field may hold 100,000 keys.
func (n *Node) noteKeys(notes map[string][]string, place KeyPlace, names []string, field string) {
	count := 0
	for i, name := range names {
		kind, note := n.keyNote(place, name)
		if note == "" {
			continue
		}
		if count++; count > maxKeyNotes {
			notes[kind] = append(notes[kind], fmt.Sprintf("%s: %d more keys were not looked at", field, len(names)-i))
			return
		}
		notes[kind] = append(notes[kind], field+": "+note)
	}
}

// keyNote is the note about one key, and the kind of interface that it belongs to; "" for a key with an effect.
func (n *Node) keyNote(place KeyPlace, name string) (kind, note string) {
	k := n.KeyNamed(place, name)
	switch {
	case k == nil:
		return n.unknownKey(place, name)
	case k.Treatment == Unbuilt:
		return k.Interface, fmt.Sprintf("%s has no effect: %s", shownKey(name), k.Text)
	case k.Hardware == "redfish" && k.Interface == "boot" && n.takesKeysOf("redfish") && n.Interfaces["boot"] != "" &&
		n.Implementation("boot") != "redfish-virtual-media":
		return k.Interface, fmt.Sprintf("%s has no effect: the boot interface redfish-virtual-media reads it, and the node "+
			"has %s", shownKey(name), n.Interfaces["boot"])
	case k.Treatment == Acted && !n.takesKeysOf(k.Hardware):
		return k.Interface, fmt.Sprintf("%s has no effect: it is a key of the hardware type %s, and the node has %s",
			shownKey(name), k.Hardware, n.Driver)
	}
	return k.Interface, ""
}

// takesKeysOf reports whether a node's hardware type reads the keys of another: fake-hardware has all interfaces, and
// consoles of a Redfish BMC by IPMI read the keys of ipmi.
func (n *Node) takesKeysOf(hardware string) bool {
	return hardware == "" || n.Driver == "fake-hardware" || BaseType(n.Driver) == hardware ||
		hardware == "ipmi" && strings.HasPrefix(n.Interfaces["console"], "ipmitool")
}

// unknownKey names the known key that a mistyped one is nearest to.
func (n *Node) unknownKey(place KeyPlace, name string) (kind, note string) {
	note = fmt.Sprintf("unknown key '%s'", shownKey(name))
	if near := n.nearestKey(place, name); near != "" {
		return n.KeyNamed(place, near).Interface, note + ", nearest known: " + near
	}
	for _, other := range keyFields {
		if k := n.KeyNamed(other.name, name); k != nil && other.name != place {
			return k.Interface, fmt.Sprintf("%s, which belongs into %s", note, other.name)
		}
	}
	return unknownKeyInterface[place], note + ": nothing here reads it"
}

// unknownKeyInterface is the kind of interface for keys that are near to none: each hardware type has these.
var unknownKeyInterface = map[KeyPlace]string{
	InDriverInfo: "management", InInstanceInfo: "deploy", InProperties: "inspect", InCapabilities: "deploy",
}

func (n *Node) nearestKey(place KeyPlace, name string) string {
	if len(name) > maxKeyName {
		return ""
	}
	var known []string
	for _, k := range Keys {
		if k.Place != place || strings.HasSuffix(k.Name, "*") || !n.takesKeysOf(k.Hardware) {
			continue
		}
		known = append(known, k.Name)
		if rest, ok := strings.CutPrefix(k.Name, "redfish_"); ok && place == InDriverInfo && n.vendorPrefix() != "" {
			known = append(known, n.vendorPrefix()+rest)
		}
	}
	return nodeapi.Closest(name, known)
}

// shownKey is a name for people.
func shownKey(name string) string {
	if len(name) > maxKeyName {
		name = strings.ToValidUTF8(name[:maxKeyName], "") + "..."
	}
	return strings.Trim(fmt.Sprintf("%q", name), `"`)
}

// capabilityNames are the names in a key capabilities.
func capabilityNames(v any) (names []string) {
	list, object := ReadCapabilities(v)
	names = slices.Collect(maps.Keys(object))
	for _, part := range capabilities(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
