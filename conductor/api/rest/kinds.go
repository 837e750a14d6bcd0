package rest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The kinds of field. Each makes a table row from where the value is kept.

// MaxText is the limit of a text.
const MaxText = nodeapi.MaxText

// Text is a string; "" is shown as null.
func Text[T any, S ~string](name string, since int, u Use, at func(*T) *S) Field[T] {
	return Sized(name, since, u, MaxText, at)
}

// Sized is text of at most limit characters.
func Sized[T any, S ~string](name string, since int, u Use, limit int, at func(*T) *S) Field[T] {
	f := Field[T]{Name: name, Since: since, Use: u | Sortable, Form: TextForm(limit)}
	f.Show = func(dst []byte, v *View[T]) []byte { return AppendText(dst, string(*at(v.Of))) }
	f.Get = func(t *T) any { return Nullable(string(*at(t))) }
	f.Set = func(t *T, value any) error {
		s, err := ReadText(value, limit)
		if err == nil {
			*at(t) = S(s)
		}
		return err
	}
	return f
}

// UUID is a UUID; "" is shown as null.
func UUID[T any](name string, since int, u Use, at func(*T) *string) Field[T] {
	f := Text(name, since, u, at)
	f.Form = Schema{"type": []string{"string", "null"}, "format": "uuid"}
	f.Set = func(t *T, value any) error {
		s, err := ReadUUID(name, value)
		if err == nil {
			*at(t) = s
		}
		return err
	}
	return f
}

// Object is free-form JSON; an absent one is shown as {}. mask hides secrets in it; nil hides nothing.
func Object[T any](name string, since int, u Use, mask func(map[string]any) map[string]any,
	at func(*T) *map[string]any) Field[T] {
	f := Field[T]{Name: name, Since: since, Use: u, Form: ObjectForm()}
	f.Show = func(dst []byte, v *View[T]) []byte {
		m := *at(v.Of)
		if mask != nil {
			m = mask(m)
		}
		return AppendObject(dst, m)
	}
	f.Get = func(t *T) any {
		if m := *at(t); m != nil {
			return m
		}
		return map[string]any{}
	}
	f.Set = func(t *T, value any) error {
		m, ok := value.(map[string]any)
		if !ok && value != nil {
			return WrongType(value, "object", "null")
		}
		*at(t) = m
		return nil
	}
	return f
}

// Flag is a boolean that is false unless set. null means absent.
func Flag[T any](name string, since int, u Use, absent bool, at func(*T) *bool) Field[T] {
	f := Field[T]{Name: name, Since: since, Use: u | Sortable, Form: FlagForm()}
	f.Show = func(dst []byte, v *View[T]) []byte { return strconv.AppendBool(dst, *at(v.Of)) }
	f.Get = func(t *T) any { return *at(t) }
	f.Set = func(t *T, value any) error {
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

// Required is a field that cannot be without a value.
func Required[T any](f Field[T]) Field[T] {
	set := f.Set
	f.Set = func(t *T, value any) error {
		if value == nil {
			return &SchemaError{"'" + f.Name + "' is a required property"}
		}
		return set(t, value)
	}
	return f
}

// Name is a name that identifies a record in place of its UUID. kind is the record's, for faults.
func Name[T any](kind string, since int, u Use, valid func(string) bool, at func(*T) *string) Field[T] {
	f := Text("name", since, u, at)
	set := f.Set
	f.Set = func(t *T, value any) error {
		if s, ok := value.(string); ok && s != "" && !valid(s) {
			return BadRequest("Cannot create %s with invalid name '%s'", kind, s)
		}
		return set(t, value)
	}
	return f
}

// NonEmpty is text that is either absent or not empty.
func NonEmpty[T any](f Field[T]) Field[T] {
	set := f.Set
	f.Set = func(t *T, value any) error {
		if value == "" {
			return BadRequest("A non-empty value is required when setting %s", f.Name)
		}
		return set(t, value)
	}
	return f
}

// StrictFlag takes true, false and null for a boolean, and no words.
func StrictFlag[T any](f Field[T]) Field[T] {
	set := f.Set
	f.Set = func(t *T, value any) error {
		if _, ok := value.(bool); !ok && value != nil {
			return WrongType(value, "boolean", "null")
		}
		return set(t, value)
	}
	return f
}

// OptionalFlag is a boolean that may be unknown: null.
func OptionalFlag[T any](name string, since int, u Use, at func(*T) **bool) Field[T] {
	f := Field[T]{Name: name, Since: since, Use: u | Sortable, Form: FlagForm()}
	f.Show = func(dst []byte, v *View[T]) []byte { return AppendBool(dst, *at(v.Of)) }
	f.Get = func(t *T) any {
		if b := *at(t); b != nil {
			return *b
		}
		return nil
	}
	f.Set = func(t *T, value any) error {
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

// Texts is a list of strings, each of which read accepts; null means none.
func Texts[T any](name string, u Use, at func(*T) *[]string, read func(any) (string, error)) Field[T] {
	f := Field[T]{
		Name: name, Since: 1, Use: u, Form: Schema{"type": []string{"array", "null"}, "items": Schema{"type": "string"}},
	}
	f.Show = func(dst []byte, v *View[T]) []byte { return AppendTexts(dst, *at(v.Of)) }
	f.Set = func(t *T, value any) error {
		items, ok := value.([]any)
		if !ok && value != nil {
			return WrongType(value, "array", "null")
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

// Number is a whole number from 0; null means 0.
func Number[T any](name string, since int, u Use, at func(*T) *int) Field[T] {
	f := Field[T]{
		Name: name, Since: since, Use: u | Sortable, Form: Schema{"type": []string{"integer", "null"}, "minimum": 0},
	}
	f.Show = func(dst []byte, v *View[T]) []byte { return strconv.AppendInt(dst, int64(*at(v.Of)), 10) }
	f.Get = func(t *T) any { return *at(t) }
	f.Set = func(t *T, value any) error {
		n, ok := value.(float64)
		switch {
		case value != nil && (!ok || n != math.Trunc(n)):
			return WrongType(value, "integer")
		case n < 0:
			return &SchemaError{Python(value) + " is less than the minimum of 0"}
		case n > math.MaxInt32:
			return &SchemaError{Python(value) + " is greater than the maximum of 2147483647"}
		}
		*at(t) = int(n)
		return nil
	}
	return f
}

// Time is a time that the API never sets.
func Time[T any](name string, since int, at func(*T) *time.Time) Field[T] {
	return Field[T]{Name: name, Since: since, Use: Sortable, Form: TimeForm(), Show: func(dst []byte, v *View[T]) []byte {
		return AppendTime(dst, at(v.Of))
	}}
}

// Computed is a field that is worked out, and read only.
func Computed[T any](name string, since int, u Use, show func(dst []byte, v *View[T]) []byte) Field[T] {
	return Field[T]{Name: name, Since: since, Use: u, Show: show, Form: commonForms()[name]}
}

// Nullable is s, or null when it is empty.
func Nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ReadText takes null, or text of at most limit characters.
func ReadText(value any, limit int) (string, error) {
	s, ok := value.(string)
	if !ok && value != nil {
		return "", WrongType(value, "string", "null")
	}
	if utf8.RuneCountInString(s) > limit {
		return "", &SchemaError{fmt.Sprintf("'%s' is too long: %d characters are the limit", s, limit)}
	}
	return s, nil
}

// ReadUUID takes a UUID in any case, and returns it in lower case.
func ReadUUID(name string, value any) (string, error) {
	if value == nil {
		return "", nil
	}
	s, ok := value.(string)
	if !ok {
		return "", WrongType(value, "string", "null")
	}
	if !ValidUUID(s) {
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
		return ParseBool(name, v)
	case float64:
		return ParseBool(name, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return ParseBool(name, Python(value))
}

// ValidUUID reports whether s is a UUID in its usual form of 36 characters.
func ValidUUID(s string) bool { return uuid.Validate(s) == nil && len(s) == 36 }
