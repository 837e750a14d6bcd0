package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The kinds of field. Each makes a table row from where the value is kept.

// maxText is the length of Ironic's text columns.
const maxText = 255

// text is a string; "" is shown as null.
func text[T any, S ~string](name string, since int, u use, at func(*T) *S) field[T] {
	return sized(name, since, u, maxText, at)
}

// sized is text of at most limit characters.
func sized[T any, S ~string](name string, since int, u use, limit int, at func(*T) *S) field[T] {
	f := field[T]{name: name, since: since, use: u | sortable, form: textForm(limit)}
	f.show = func(dst []byte, v *view[T]) []byte { return appendText(dst, string(*at(v.of))) }
	f.get = func(t *T) any { return nullable(string(*at(t))) }
	f.set = func(t *T, value any) error {
		s, err := asText(value, limit)
		if err == nil {
			*at(t) = S(s)
		}
		return err
	}
	return f
}

// identifier is a UUID; "" is shown as null.
func identifier[T any](name string, since int, u use, at func(*T) *string) field[T] {
	f := text(name, since, u, at)
	f.form = schema{"type": []string{"string", "null"}, "format": "uuid"}
	f.set = func(t *T, value any) error {
		s, err := asUUID(name, value)
		if err == nil {
			*at(t) = s
		}
		return err
	}
	return f
}

// object is free-form JSON; an absent one is shown as {}. mask hides what is
// secret in it, nil for nothing.
func object[T any](name string, since int, u use, mask func(map[string]any) map[string]any, at func(*T) *map[string]any) field[T] {
	f := field[T]{name: name, since: since, use: u, form: objectForm()}
	f.show = func(dst []byte, v *view[T]) []byte {
		m := *at(v.of)
		if mask != nil {
			m = mask(m)
		}
		return appendObject(dst, m)
	}
	f.get = func(t *T) any {
		if m := *at(t); m != nil {
			return m
		}
		return map[string]any{}
	}
	f.set = func(t *T, value any) error {
		m, ok := value.(map[string]any)
		if !ok && value != nil {
			return wrongType(value, "object", "null")
		}
		*at(t) = m
		return nil
	}
	return f
}

// flag is a boolean that is false unless set. null means absent.
func flag[T any](name string, since int, u use, absent bool, at func(*T) *bool) field[T] {
	f := field[T]{name: name, since: since, use: u | sortable, form: flagForm()}
	f.show = func(dst []byte, v *view[T]) []byte { return strconv.AppendBool(dst, *at(v.of)) }
	f.get = func(t *T) any { return *at(t) }
	f.set = func(t *T, value any) error {
		if value == nil {
			*at(t) = absent
			return nil
		}
		b, err := asBool(name, value)
		if err == nil {
			*at(t) = b
		}
		return err
	}
	return f
}

// needed is a field that cannot be without a value.
func needed[T any](f field[T]) field[T] {
	set := f.set
	f.set = func(t *T, value any) error {
		if value == nil {
			return &schemaError{"'" + f.name + "' is a required property"}
		}
		return set(t, value)
	}
	return f
}

// logicalName is a name by which a record can be asked for in place of its
// UUID; a fault says of which kind it is.
func logicalName[T any](kind string, since int, u use, at func(*T) *string) field[T] {
	f := text("name", since, u, at)
	set := f.set
	f.set = func(t *T, value any) error {
		if s, ok := value.(string); ok && s != "" && !node.ValidName(s) {
			return badRequest("Cannot create %s with invalid name '%s'", kind, s)
		}
		return set(t, value)
	}
	return f
}

// filled is text that is either absent or not empty.
func filled[T any](f field[T]) field[T] {
	set := f.set
	f.set = func(t *T, value any) error {
		if value == "" {
			return badRequest("A non-empty value is required when setting %s", f.name)
		}
		return set(t, value)
	}
	return f
}

// strict takes true, false and null for a boolean, and no words.
func strict[T any](f field[T]) field[T] {
	set := f.set
	f.set = func(t *T, value any) error {
		if _, ok := value.(bool); !ok && value != nil {
			return wrongType(value, "boolean", "null")
		}
		return set(t, value)
	}
	return f
}

// maybe is a boolean that may be unknown: null.
func maybe[T any](name string, since int, u use, at func(*T) **bool) field[T] {
	f := field[T]{name: name, since: since, use: u | sortable, form: flagForm()}
	f.show = func(dst []byte, v *view[T]) []byte { return appendBool(dst, *at(v.of)) }
	f.get = func(t *T) any {
		if b := *at(t); b != nil {
			return *b
		}
		return nil
	}
	f.set = func(t *T, value any) error {
		if value == nil {
			*at(t) = nil
			return nil
		}
		b, err := asBool(name, value)
		if err == nil {
			*at(t) = &b
		}
		return err
	}
	return f
}

// texts is a list of strings, each of which read accepts; null means none.
func texts[T any](name string, u use, at func(*T) *[]string, read func(any) (string, error)) field[T] {
	f := field[T]{name: name, since: 1, use: u, form: schema{"type": []string{"array", "null"}, "items": schema{"type": "string"}}}
	f.show = func(dst []byte, v *view[T]) []byte { return appendTexts(dst, *at(v.of)) }
	f.set = func(t *T, value any) error {
		items, ok := value.([]any)
		if !ok && value != nil {
			return wrongType(value, "array", "null")
		}
		list := make([]string, len(items))
		for i, item := range items {
			var err error
			if list[i], err = read(item); err != nil {
				return err
			}
		}
		*at(t) = list
		return nil
	}
	return f
}

// number is a whole number from 0; null means 0.
func number[T any](name string, since int, u use, at func(*T) *int) field[T] {
	f := field[T]{name: name, since: since, use: u | sortable, form: schema{"type": []string{"integer", "null"}, "minimum": 0}}
	f.show = func(dst []byte, v *view[T]) []byte { return strconv.AppendInt(dst, int64(*at(v.of)), 10) }
	f.get = func(t *T) any { return *at(t) }
	f.set = func(t *T, value any) error {
		n, ok := value.(float64)
		switch {
		case value != nil && (!ok || n != math.Trunc(n)):
			return wrongType(value, "integer")
		case n < 0:
			return &schemaError{python(value) + " is less than the minimum of 0"}
		case n > math.MaxInt32:
			return &schemaError{python(value) + " is greater than the maximum of 2147483647"}
		}
		*at(t) = int(n)
		return nil
	}
	return f
}

// instant is a time nobody sets through the API.
func instant[T any](name string, since int, at func(*T) *time.Time) field[T] {
	return field[T]{name: name, since: since, use: sortable, form: timeForm(), show: func(dst []byte, v *view[T]) []byte {
		return appendTime(dst, at(v.of))
	}}
}

// shown is a field that is worked out, and read only.
func shown[T any](name string, since int, u use, show func(dst []byte, v *view[T]) []byte) field[T] {
	return field[T]{name: name, since: since, use: u, show: show, form: commonForms()[name]}
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func asText(value any, limit int) (string, error) {
	s, ok := value.(string)
	if !ok && value != nil {
		return "", wrongType(value, "string", "null")
	}
	if utf8.RuneCountInString(s) > limit {
		return "", &schemaError{fmt.Sprintf("'%s' is too long: %d characters are the limit", s, limit)}
	}
	return s, nil
}

func asUUID(name string, value any) (string, error) {
	if value == nil {
		return "", nil
	}
	s, ok := value.(string)
	if !ok {
		return "", wrongType(value, "string", "null")
	}
	if !validUUID(s) {
		return "", nodeapi.NewFault(http.StatusBadRequest, "Expected UUID for %s: %s", name, s)
	}
	return strings.ToLower(s), nil
}

// asBool takes true and false, and every word Ironic takes for them.
func asBool(name string, value any) (bool, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		return parseBool(name, v)
	case float64:
		return parseBool(name, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return parseBool(name, python(value))
}

func validUUID(s string) bool { return uuid.Validate(s) == nil && len(s) == 36 }
