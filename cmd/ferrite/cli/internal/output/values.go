package output

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Pairs reads KEY=VALUE arguments. read parses a value.
func Pairs(flag string, args []string, read func(string) any) (map[string]any, error) {
	m := map[string]any{}
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--%s %q: expected KEY=VALUE", flag, a)
		}
		m[key] = read(value)
	}
	return m, nil
}

// JsonOrText is JSON when the value is some, else the text itself: 4 is a
// number, true is a boolean, x86_64 is text.
func JsonOrText(value string) any {
	var v any
	if json.Unmarshal([]byte(value), &v) == nil {
		return v
	}
	return value
}

// MostlyText is for driver_info, where a password of digits must stay text, and
// for the names of a switch's ports: only true, false, objects and lists are JSON.
func MostlyText(value string) any {
	switch v := JsonOrText(value).(type) {
	case bool, map[string]any, []any:
		return v
	}
	return value
}

// Pointer escapes a key for a JSON pointer.
func Pointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
