package imports

import (
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// unmask puts the stored secrets in the place of the masks that their source shows instead.
func unmask(there *node.Bundle, ours node.Bundle) {
	n := &there.Node
	n.DriverInfo = filled(n.DriverInfo, ours.Node.DriverInfo)
	n.InstanceInfo = filled(n.InstanceInfo, ours.Node.InstanceInfo)
	for i, t := range there.Targets {
		for _, o := range ours.Targets {
			if o.UUID == t.UUID {
				there.Targets[i].Properties = filled(t.Properties, o.Properties)
			}
		}
	}
}

// filled is m with the values that are masked as they are in stored, where that has them.
func filled(m, stored map[string]any) map[string]any {
	out, copied := m, false
	for key, value := range m {
		is, had := stored[key]
		if !had {
			continue
		}
		now := fill(value, is)
		if within, ok := value.(map[string]any); ok {
			if of, ok := is.(map[string]any); ok {
				now = filled(within, of)
			}
		}
		if !copied {
			out, copied = make(map[string]any, len(m)), true
			for k, v := range m {
				out[k] = v
			}
		}
		out[key] = now
	}
	return out
}

func fill(value, stored any) any {
	if value == nodeapi.Masked {
		return stored
	}
	return value
}

// Masked finds a mask in the place of a secret, by its JSON pointer; "" for none.
func Masked(b *node.Bundle) string {
	all := map[string]any{"driver_info": b.Node.DriverInfo, "instance_info": b.Node.InstanceInfo}
	for _, t := range b.Targets {
		all["target "+t.UUID] = t.Properties
	}
	return maskedIn(all, "")
}

func maskedIn(v any, at string) string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if found := maskedIn(v[key], at+"/"+key); found != "" {
				return found
			}
		}
	case []any:
		for _, one := range v {
			if found := maskedIn(one, at); found != "" {
				return found
			}
		}
	case string:
		if v == nodeapi.Masked {
			return at
		}
	}
	return ""
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
