package api

import (
	"fmt"
	"slices"
	"strings"
)

// shape says what is wrong with a decoded JSON value, in the words of the JSON
// schemas that Ironic has; "" for nothing.
type shape func(v any) string

// property is one property of an object.
type property struct {
	name     string
	required bool
	shape    shape
}

// additional is what is wrong with an object that has a property of this name.
func additional(name string) string {
	return "Additional properties are not allowed ('" + name + "' was unexpected)"
}

// objectOf is objects with these properties; others are let through.
func objectOf(all ...property) shape {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return python(v) + " is not of type 'object'"
		}
		for _, p := range all {
			value, there := m[p.name]
			switch {
			case !there && p.required:
				return fmt.Sprintf("'%s' is a required property", p.name)
			case !there:
			default:
				if wrong := p.shape(value); wrong != "" {
					return p.name + ": " + wrong
				}
			}
		}
		return ""
	}
}

// listOf is lists of items alike.
func listOf(item shape) shape {
	return func(v any) string {
		list, ok := v.([]any)
		if !ok {
			return python(v) + " is not of type 'array'"
		}
		for i, value := range list {
			if wrong := item(value); wrong != "" {
				return fmt.Sprintf("%d: %s", i, wrong)
			}
		}
		return ""
	}
}

// kindOf is objects that are of one kind or another by their property type.
func kindOf(kinds map[string]shape) shape {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return python(v) + " is not of type 'object'"
		}
		kind, _ := m["type"].(string)
		if s := kinds[kind]; s != nil {
			return s(v)
		}
		return fmt.Sprintf("type: %s is not one of ['%s']", python(m["type"]), strings.Join(sortedKeys(kinds), "', '"))
	}
}

// eitherOf is what has one of two shapes; what is wrong is told of the first.
func eitherOf(a, b shape) shape {
	return func(v any) string {
		wrong := a(v)
		if wrong == "" || b(v) == "" {
			return ""
		}
		return wrong
	}
}

// oneOf is some texts.
func oneOf(values ...string) shape {
	return func(v any) string {
		if s, ok := v.(string); ok && slices.Contains(values, s) {
			return ""
		}
		return fmt.Sprintf("%s is not one of ['%s']", python(v), strings.Join(values, "', '"))
	}
}

func isText(v any) string {
	if _, ok := v.(string); ok {
		return ""
	}
	return python(v) + " is not of type 'string'"
}

func isTruth(v any) string {
	if _, ok := v.(bool); ok {
		return ""
	}
	return python(v) + " is not of type 'boolean'"
}

func isWhole(v any) string {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return ""
	}
	return python(v) + " is not of type 'integer'"
}
