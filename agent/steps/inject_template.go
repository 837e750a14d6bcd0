package steps

import (
	"fmt"
	"strconv"
	"strings"
)

// fillIn puts facts of the node into a text, as Python's str.format does with
// ironic-python-agent's two arguments: {node[properties][rack]} and
// {ports[0][address]}; {{ and }} stand for braces. A fact that is missing is an error,
// never an empty place.
func fillIn(text string, facts map[string]any) (string, error) {
	var out strings.Builder
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		brace := text[at]
		text = text[at+1:]
		if text != "" && text[0] == brace {
			out.WriteByte(brace)
			text = text[1:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if brace == '}' || end < 0 {
			return "", fmt.Errorf("a single %q: write {{ or }} for a brace", brace)
		}
		value, err := lookUp(text[:end], facts)
		if err != nil {
			return "", fmt.Errorf("{%s}: %w", text[:end], err)
		}
		out.WriteString(value)
		text = text[end+1:]
	}
	out.WriteString(text)
	return out.String(), nil
}

// lookUp follows a path such as node[properties][rack] to a text, number or
// boolean.
func lookUp(field string, facts map[string]any) (string, error) {
	name, rest, _ := strings.Cut(field, "[")
	value, known := facts[name]
	if !known {
		return "", fmt.Errorf("%q is not known here, expected node or ports", name)
	}
	if rest != "" {
		inner, closed := strings.CutSuffix(rest, "]")
		if !closed {
			return "", fmt.Errorf("expected keys in brackets, as in node[uuid]")
		}
		for _, key := range strings.Split(inner, "][") {
			var err error
			if value, err = member(value, key); err != nil {
				return "", err
			}
		}
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case float64: // a JSON number
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool: // as Python prints it
		return map[bool]string{true: "True", false: "False"}[v], nil
	default:
		return "", fmt.Errorf("expected a text, number or boolean, found %T", value)
	}
}

// member is one step into an object or a list.
func member(value any, key string) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		if found, ok := v[key]; ok {
			return found, nil
		}
		return nil, fmt.Errorf("there is no key %q", key)
	case []any:
		n, err := strconv.Atoi(key)
		if err != nil || n < 0 || n >= len(v) {
			return nil, fmt.Errorf("there is no item %q in a list of %d", key, len(v))
		}
		return v[n], nil
	}
	return nil, fmt.Errorf("%q is asked of something that has no parts", key)
}
