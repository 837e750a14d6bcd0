package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Replacement fields are Python's (str.format): {inventory[cpu][count]},
// {plugin_data[a]}, {node.driver}, {item}, with !s or !r behind, and {{ }} for
// plain braces. Format specifications are not known.

// fill fills in the replacement fields of every text in v. A text with an unknown field
// stays as it is, as in Ironic, and is logged; where missing is looked for it becomes null.
func (r *evaluation) fill(v any, missing bool) (any, error) {
	if err := r.spend(valuePrice); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		return r.fillText(v, missing)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			var err error
			if list[i], err = r.fill(item, missing); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			key, err := r.fillText(k, false)
			if err != nil {
				return nil, err
			}
			if m[fmt.Sprint(key)], err = r.fill(item, missing); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}

func (r *evaluation) fillText(text string, missing bool) (any, error) {
	if !strings.ContainsAny(text, "{}") {
		return text, r.spend(len(text))
	}
	var out strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:i])
		brace := rest[i : i+1]
		rest = rest[i+1:]
		if strings.HasPrefix(rest, brace) { // doubled: itself
			out.WriteString(brace)
			rest = rest[1:]
			continue
		}
		end := fieldEnd(rest)
		if brace == "}" || end < 0 {
			return r.unfilled(text, missing, "its braces do not match")
		}
		found, err := r.field(rest[:end])
		if err != nil {
			return r.unfilled(text, missing, err.Error())
		}
		out.WriteString(found)
		rest = rest[end+1:]
		if err := r.spend(valuePrice * len(found)); err != nil {
			return nil, err
		}
	}
	return out.String(), r.spend(len(text))
}

// fieldEnd is where the brace is that ends a field: brackets may hold some.
func fieldEnd(s string) int {
	for i, inside := 0, false; i < len(s); i++ {
		switch {
		case s[i] == '[':
			inside = true
		case s[i] == ']':
			inside = false
		case inside:
		case s[i] == '{':
			return -1
		case s[i] == '}':
			return i
		}
	}
	return -1
}

func (r *evaluation) unfilled(text string, missing bool, why string) (any, error) {
	if missing {
		return nil, nil
	}
	switch {
	case r.quiet:
	case r.by.Sensitive:
		r.logLine("WARNING", fmt.Sprintf("inspection rule %s: a text stays as it is: a replacement field leads nowhere",
			nameOf(r.by)))
	default:
		r.logLine("WARNING",
			fmt.Sprintf("inspection rule %s: %.100q stays as it is: %s", nameOf(r.by), nodeapi.MaskText(text), why))
	}
	return text, r.spend(len(text))
}

// field is the text a replacement field stands for.
func (r *evaluation) field(name string) (string, error) {
	end := strings.IndexAny(name, ".[!:")
	if end < 0 {
		end = len(name)
	}
	root, rest := name[:end], name[end:]
	v, rest, own, err := r.root(root, rest)
	if err != nil {
		return "", err
	}
	if v, rest, err = walk(v, rest, own); err != nil {
		return "", err
	}
	if !own { // an operator's own values in a loop are shown unmasked
		v = nodeapi.MaskValue(v)
	}
	switch rest {
	case "", "!s":
		if s, ok := v.(string); ok {
			return s, nil
		}
		return nodeapi.Python(v), nil
	case "!r":
		return nodeapi.Python(v), nil
	}
	return "", fmt.Errorf("%q is not understood: of conversions !s and !r are known", rest)
}

// root returns the value that a field begins with. own is set for values of the rule itself.
func (r *evaluation) root(name, rest string) (v any, left string, own bool, err error) {
	switch {
	case name == "inventory":
		return any(r.out.Inventory), rest, false, nil
	case name == pluginData:
		return any(r.out.PluginData), rest, false, nil
	case name == "item" && r.looping:
		return r.item, rest, true, nil
	case name == "node" && strings.HasPrefix(rest, "."):
		end := strings.IndexAny(rest[1:], ".[!:") + 1
		if end == 0 {
			end = len(rest)
		}
		at, ok := nodeAttributes[rest[1:end]]
		if !ok {
			return nil, "", false, fmt.Errorf("a node has no %q that rules know of", rest[1:end])
		}
		v := at.get(&r.out.Node)
		if rest[1:end] == "instance_info" {
			v = any(nodeapi.MaskInstance(r.out.Node.InstanceInfo))
		}
		return v, rest[end:], false, nil
	}
	return nil, "", false, fmt.Errorf("a field cannot begin with %q: inventory, plugin_data, node.<attribute> and in "+
		"loops item are known", name)
}

// walk follows [key] as far as there are some. A secret is masked.
func walk(v any, rest string, own bool) (any, string, error) {
	for strings.HasPrefix(rest, "[") {
		key, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			return nil, "", fmt.Errorf("its brackets do not match")
		}
		rest = after
		switch of := v.(type) {
		case map[string]any:
			item, ok := of[key]
			if !ok {
				return nil, "", fmt.Errorf("there is no %q", key)
			}
			if v = item; !own && item != nil && nodeapi.Secret(key) {
				v = any(nodeapi.Masked)
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(of) {
				return nil, "", fmt.Errorf("a list of %d has no item %q", len(of), key)
			}
			v = of[i]
		default:
			return nil, "", fmt.Errorf("there is no %q in %s", key, nodeapi.JSONKind(v))
		}
	}
	return v, rest, nil
}
