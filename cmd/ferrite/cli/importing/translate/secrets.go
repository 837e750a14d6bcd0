package translate

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Secrets are the values that the API masks: by UUID or name of a node (or UUID of a volume target), then by field
// (driver_info, instance_info, properties).
type Secrets map[string]map[string]map[string]any

// unmask puts secrets in the place of the masks.
func (n *Node) unmask(s Secrets) {
	of := func(field string) map[string]any {
		if v := s[n.UUID][field]; v != nil || n.Name == "" {
			return v
		}
		return s[n.Name][field]
	}
	for _, field := range []string{"driver_info", "instance_info"} {
		if m, ok := n.Import.Node[field].(map[string]any); ok {
			n.Import.Node[field] = unmasked(m, of(field), n.prefixes(field))
		}
	}
	for _, t := range n.Import.Targets {
		if m, ok := t["properties"].(map[string]any); ok {
			t["properties"] = unmasked(m, s[text(t, "uuid")]["properties"], nil)
		}
	}
}

// DropConfigDrive leaves out a config drive that is masked still, and reports whether there was one: the node of a
// running machine is of use without.
func (n *Node) DropConfigDrive() bool {
	info, _ := n.Import.Node["instance_info"].(map[string]any)
	if info["configdrive"] != nodeapi.Masked {
		return false
	}
	delete(info, "configdrive")
	n.note("its config drive is masked and is left out: a rebuild must be given it again (Ironic's database has it)")
	return true
}

// prefixes maps the new prefixes of renamed settings to the old ones.
func (n *Node) prefixes(field string) map[string]string {
	if field != "driver_info" {
		return nil
	}
	all := map[string]string{}
	for _, s := range standIns {
		if s.settings != "" {
			all[s.settings] = s.becomes
		}
	}
	return all
}

// unmasked is a copy of m with secrets in the place of its masks.
func unmasked(m, secrets map[string]any, renamed map[string]string) map[string]any {
	out := maps.Clone(m)
	for key, value := range m {
		secret, known := secrets[key]
		if !known {
			secret, known = underOldName(key, secrets, renamed)
		}
		switch v := value.(type) {
		case string:
			if known && v == nodeapi.Masked {
				out[key] = secret
			}
		case map[string]any:
			within, _ := secret.(map[string]any)
			out[key] = unmasked(v, within, nil)
		case []any:
			if list, ok := secret.([]any); ok && len(list) == len(v) && slices.ContainsFunc(v, holdsMask) {
				out[key] = list
			}
		}
	}
	return out
}

func underOldName(key string, secrets map[string]any, renamed map[string]string) (any, bool) {
	for old, now := range renamed {
		if name, ok := strings.CutPrefix(key, now); ok {
			if v, ok := secrets[old+name]; ok {
				return v, true
			}
		}
	}
	return nil, false
}

func holdsMask(v any) bool {
	switch v := v.(type) {
	case string:
		return v == nodeapi.Masked
	case []any:
		return slices.ContainsFunc(v, holdsMask)
	case map[string]any:
		for _, one := range v {
			if holdsMask(one) {
				return true
			}
		}
	}
	return false
}

// Masked lists the secrets of a node that are masked still, as FIELD/KEY.
func (n *Node) Masked() (all []string) {
	look := func(at string, m map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if holdsMask(m[key]) {
				all = append(all, at+"/"+key)
			}
		}
	}
	for _, field := range []string{"driver_info", "instance_info"} {
		m, _ := n.Import.Node[field].(map[string]any)
		look(field, m)
	}
	for _, t := range n.Import.Targets {
		m, _ := t["properties"].(map[string]any)
		look("target "+text(t, "uuid")+"/properties", m)
	}
	return all
}
