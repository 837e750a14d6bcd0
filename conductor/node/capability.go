package node

import (
	"encoding/json"
	"slices"
	"strings"
)

// Capabilities are written "a:1,b:2", in the properties of a node and in the requirements of an instance. They are
// edited as text, so that entries of other tools stay as they are.

// ReadCapabilities reads a key capabilities. object is nil for the form "a:1,b:2", which is the list then. Nova sends
// an object as text.
func ReadCapabilities(v any) (list string, object map[string]any) {
	list, ok := v.(string)
	if !ok {
		object, _ = v.(map[string]any)
	} else if json.Unmarshal([]byte(list), &object) != nil {
		return list, nil
	}
	return "", object
}

// Capability returns the value of a capability, "" if it is missing. If several have the same name, the last counts, as
// in Ironic.
func Capability(caps, name string) (value string) {
	for part := range strings.SplitSeq(caps, ",") {
		if k, v, ok := strings.Cut(strings.TrimSpace(part), ":"); ok && k == name {
			value = v
		}
	}
	return value
}

// SetCapability gives a capability a value, where it stood before or else at
// the end.
func SetCapability(caps, name, value string) string {
	parts := capabilities(caps)
	is := capabilityNamed(name)
	at := slices.IndexFunc(parts, is)
	if at < 0 {
		return strings.Join(append(parts, name+":"+value), ",")
	}
	parts[at] = name + ":" + value
	return strings.Join(append(parts[:at+1], slices.DeleteFunc(parts[at+1:], is)...), ",")
}

// UnsetCapability removes a capability; a missing one is no error.
func UnsetCapability(caps, name string) string {
	return strings.Join(slices.DeleteFunc(capabilities(caps), capabilityNamed(name)), ",")
}

func capabilities(caps string) []string {
	return slices.DeleteFunc(strings.Split(caps, ","), func(part string) bool { return strings.TrimSpace(part) == "" })
}

func capabilityNamed(name string) func(part string) bool {
	return func(part string) bool {
		k, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		return k == name
	}
}
