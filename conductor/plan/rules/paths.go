package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxPath is how many parts a path may have: an object nested deeper could not
// be read back.
const maxPath = 25

// pathOf splits a path: properties/capabilities, /extra/a, driver_info.ipmi_port.
func pathOf(a args) ([]string, error) {
	text, err := a.text("path")
	if err != nil {
		return nil, err
	}
	var parts []string
	if strings.Contains(text, "/") {
		parts = strings.Split(strings.Trim(text, "/"), "/")
	} else {
		parts = strings.Split(text, ".")
	}
	return parts, checkPath(parts)
}

// dataPathOf splits a path in the plugin data, which is a text with dots or a
// list of keys.
func dataPathOf(a args) ([]string, error) {
	list, ok := a["path"].([]any)
	if !ok {
		text, err := a.text("path")
		if err != nil {
			return nil, err
		}
		parts := strings.Split(text, ".")
		return parts, checkPath(parts)
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, textOf(item))
	}
	return parts, checkPath(parts)
}

func checkPath(parts []string) error {
	if len(parts) == 0 || slices.Contains(parts, "") {
		return fmt.Errorf("path %q has a part without a name", strings.Join(parts, "/"))
	}
	if len(parts) > maxPath {
		return fmt.Errorf("the path has %d parts, the limit is %d", len(parts), maxPath)
	}
	return nil
}

// holder is the object in which the last part of a path is. Objects on the way
// are made where make says so; else nil is returned when one is missing.
func holder(top map[string]any, path []string, create bool) (map[string]any, error) {
	at := top
	for i, part := range path[:len(path)-1] {
		next, ok := at[part]
		if !ok {
			if !create {
				return nil, nil
			}
			next = map[string]any{}
			at[part] = next
		}
		if at, ok = next.(map[string]any); !ok {
			return nil, fmt.Errorf("%s is %s, not an object", strings.Join(path[:i+1], "/"), nodeapi.JSONKind(next))
		}
	}
	return at, nil
}

// safe is text from a rule or a machine as people may be shown it.
func safe(v any) string {
	const limit = 500
	text := nodeapi.MaskText(textOf(v))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + " ... (cut short)"
	}
	return text
}
