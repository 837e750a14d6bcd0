package output

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Cell is a value as people read it: nothing for null, KEY=VALUE for the parts of an object.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return fmt.Sprint(v)
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = inner(part)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range Sorted(v) {
			parts = append(parts, key+"="+inner(v[key]))
		}
		return strings.Join(parts, ", ")
	}
	return inner(v)
}

// inner is a part of a cell. Objects within objects are JSON.
func inner(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// FieldText is the value of a field of a record as people read it.
func FieldText(field string, v any) string {
	if text, ok := v.(string); ok && (strings.HasSuffix(field, "_at") || field == "expires") {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return Time(at)
		}
	}
	return Cell(v)
}

// Time is a time of the clock that the reader sees on the wall, with its zone; "" for none.
func Time(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Local().Format("2006-01-02 15:04:05 MST")
}

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
