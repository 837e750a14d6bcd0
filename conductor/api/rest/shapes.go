package rest

import (
	"fmt"
	"slices"
	"strings"
)

// Shape checks a decoded JSON value and returns the fault, in the words of Ironic's JSON schemas; "" for none.
type Shape func(v any) string

// Property is one property of an object.
type Property struct {
	Name     string
	Required bool
	Shape    Shape
}

// Additional is the fault of an object with an unknown property of this name.
func Additional(name string) string {
	return "Additional properties are not allowed ('" + name + "' was unexpected)"
}

// ObjectOf is objects with these properties; others are let through.
func ObjectOf(all ...Property) Shape {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return Python(v) + " is not of type 'object'"
		}
		for _, p := range all {
			value, there := m[p.Name]
			switch {
			case !there && p.Required:
				return fmt.Sprintf("'%s' is a required property", p.Name)
			case !there:
			default:
				if wrong := p.Shape(value); wrong != "" {
					return p.Name + ": " + wrong
				}
			}
		}
		return ""
	}
}

// ListOf is lists of items alike.
func ListOf(item Shape) Shape {
	return func(v any) string {
		list, ok := v.([]any)
		if !ok {
			return Python(v) + " is not of type 'array'"
		}
		for i, value := range list {
			if wrong := item(value); wrong != "" {
				return fmt.Sprintf("%d: %s", i, wrong)
			}
		}
		return ""
	}
}

// KindOf is objects that are of one kind or another by their property type.
func KindOf(kinds map[string]Shape) Shape {
	return func(v any) string {
		m, ok := v.(map[string]any)
		if !ok {
			return Python(v) + " is not of type 'object'"
		}
		kind, _ := m["type"].(string)
		if s := kinds[kind]; s != nil {
			return s(v)
		}
		return fmt.Sprintf("type: %s is not one of ['%s']", Python(m["type"]), strings.Join(SortedKeys(kinds), "', '"))
	}
}

// Either has one of two shapes; errors are about the first.
func Either(a, b Shape) Shape {
	return func(v any) string {
		wrong := a(v)
		if wrong == "" || b(v) == "" {
			return ""
		}
		return wrong
	}
}

// OneOf is some texts.
func OneOf(values ...string) Shape {
	return func(v any) string {
		if s, ok := v.(string); ok && slices.Contains(values, s) {
			return ""
		}
		return fmt.Sprintf("%s is not one of ['%s']", Python(v), strings.Join(values, "', '"))
	}
}

// IsText refuses all but a string.
func IsText(v any) string {
	if _, ok := v.(string); ok {
		return ""
	}
	return Python(v) + " is not of type 'string'"
}

// IsBool refuses all but a boolean.
func IsBool(v any) string {
	if _, ok := v.(bool); ok {
		return ""
	}
	return Python(v) + " is not of type 'boolean'"
}

// IsWhole refuses all but a whole number.
func IsWhole(v any) string {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return ""
	}
	return Python(v) + " is not of type 'integer'"
}
