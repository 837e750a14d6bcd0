package nodeapi

import (
	"slices"
	"strconv"
	"strings"
)

// TakeSecrets returns m without the values that MaskInstance hides, and calls taken for each of them with its JSON
// pointer (RFC 6901), which begins with at. A URL with credentials is taken whole. Members of objects are removed;
// items of lists become null, so that the others keep their places. It copies only the changed parts; m itself is
// never written.
func TakeSecrets(m map[string]any, at string, taken func(pointer string, value any)) map[string]any {
	rest, _ := takeSecrets(m, at, taken)
	return rest
}

// HasSecrets reports whether MaskInstance hides anything of a decoded JSON value.
func HasSecrets(value any) bool {
	_, found := takeValue(value, "", "", func(string, any) {})
	return found != takenNone
}

// takenPart is how much of a value is secret.
type takenPart int

const (
	takenNone takenPart = iota
	takenSome
	takenWhole
)

func takeSecrets(m map[string]any, at string, taken func(string, any)) (rest map[string]any, part takenPart) {
	rest = m
	name, _ := m["name"].(string) // of a setting of the BIOS, as in mask
	for key, value := range m {
		if value == nil {
			continue
		}
		left, found := value, takenWhole
		if Secret(key) || key == "configdrive" || key == "value" && Secret(name) {
			taken(at+"/"+pointerToken(key), value)
		} else if left, found = takeValue(value, at, key, taken); found == takenNone {
			continue
		}
		if part == takenNone {
			rest, part = clone(m), takenSome
		}
		if rest[key] = left; found == takenWhole {
			delete(rest, key)
		}
	}
	return rest, part
}

// takeValue takes from the value of a key that is no secret by its name.
func takeValue(value any, at, key string, taken func(string, any)) (rest any, part takenPart) {
	switch v := value.(type) {
	case map[string]any:
		return takeSecrets(v, at+"/"+pointerToken(key), taken)
	case []any:
		return takeList(v, at+"/"+pointerToken(key), taken)
	case string:
		if MaskText(v) != v {
			taken(at+"/"+pointerToken(key), v)
			return nil, takenWhole
		}
	}
	return value, takenNone
}

func takeList(list []any, at string, taken func(string, any)) (rest []any, part takenPart) {
	rest = list
	for i, value := range list {
		left, found := takeValue(value, at, strconv.Itoa(i), taken)
		if found == takenNone {
			continue
		}
		if part == takenNone {
			rest, part = slices.Clone(list), takenSome
		}
		rest[i] = left
	}
	return rest, part
}

// pointerToken is a key as a JSON pointer has it (RFC 6901, 3).
func pointerToken(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
