package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// use says what may be done with a field besides reading it.
type use uint8

const (
	creatable use = 1 << iota // a POST may set it
	patchable                 // a PATCH may set it
	sortable                  // sort_key may name it
	fullOnly                  // shown with the whole resource only; fields= cannot ask for it
	unseen                    // never shown: what a POST says beside the fields
)

// field is one field of a resource: all there is to know of it, in one row.
type field[T any] struct {
	name  string
	since int // microversion 1.since
	use   use
	show  func(dst []byte, v *view[T]) []byte // writes it as JSON
	get   func(*T) any                        // what a patch starts from, secrets in clear; nil unless patchable
	set   func(*T, any) error                 // takes a decoded JSON value; nil is null, back to the default
	form  schema                              // of its values, for the document of the API; nil for anything
}

// view is a resource as one request sees it.
type view[T any] struct {
	of    *T
	minor int
	base  string // http://host:port
	// Of nodes only: the conductor's host, who holds the reservation, and why
	// the node is not at rest where one node is shown.
	host, reserved string
	status         *nodeapi.Status
	caller         *auth.Caller // who does not see all of it, perhaps
}

// table is the fields of a resource in the order they are shown.
type table[T any] struct {
	kind   string // node, port: for error texts
	fields []field[T]
	keys   []string // "name": quoted, with the colon
	byName map[string]int
}

func newTable[T any](kind string, fields []field[T]) *table[T] {
	t := &table[T]{kind: kind, fields: fields, byName: map[string]int{}}
	for i, f := range fields {
		t.keys = append(t.keys, `"`+f.name+`":`)
		t.byName[f.name] = i
	}
	return t
}

// selection is which fields to show: indexes into the table, ascending.
type selection []int

// full selects all that exists in a microversion.
func (t *table[T]) full(minor int) selection {
	s := make(selection, 0, len(t.fields))
	for i := range t.fields {
		if t.fields[i].since <= minor && t.fields[i].use&unseen == 0 {
			s = append(s, i)
		}
	}
	return s
}

// pick selects by name; names must exist. Those too new are left out.
func (t *table[T]) pick(minor int, names ...string) selection {
	s := make(selection, 0, len(names))
	for _, name := range names {
		if i := t.byName[name]; t.fields[i].since <= minor {
			s = append(s, i)
		}
	}
	slices.Sort(s)
	return s
}

// asked selects what ?fields= names, and links, which are always shown.
func (t *table[T]) asked(minor int, names string) (selection, error) {
	s := selection{t.byName["links"]}
	var unknown []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		i, ok := t.byName[name]
		switch {
		case !ok || t.fields[i].use&(fullOnly|unseen) != 0:
			unknown = append(unknown, `"`+name+`"`)
		case t.fields[i].since > minor:
			return nil, notAcceptable()
		case !slices.Contains(s, i):
			s = append(s, i)
		}
	}
	if unknown != nil {
		return nil, nodeapi.NewFault(http.StatusBadRequest, "Field(s) %s are not valid", strings.Join(unknown, ", "))
	}
	slices.Sort(s)
	return s, nil
}

// render writes the selected fields of one resource.
func (t *table[T]) render(dst []byte, s selection, v *view[T]) []byte {
	dst = append(dst, '{')
	for n, i := range s {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t.keys[i]...)
		dst = t.fields[i].show(dst, v)
	}
	return append(dst, '}')
}

// sortKey checks a ?sort_key=.
func (t *table[T]) sortKey(minor int, name string) (string, error) {
	if name == "" || name == "id" {
		return "", nil
	}
	i, ok := t.byName[name]
	switch {
	case ok && t.fields[i].since > minor:
		return "", notAcceptable()
	case !ok || t.fields[i].use&sortable == 0:
		return "", nodeapi.NewFault(http.StatusBadRequest, "The sort_key value %q is an invalid field for sorting", name)
	}
	return name, nil
}

// usable lists the names with the given use, for error texts.
func (t *table[T]) usable(u use, minor int) []string {
	var names []string
	for _, f := range t.fields {
		if f.use&u != 0 && f.since <= minor {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

// known refuses names that are no fields, or are in later versions only.
func (t *table[T]) known(minor int, names []string) error {
	for _, name := range names {
		i, ok := t.byName[name]
		if !ok {
			return badRequest("Field(s) %q are not valid", name)
		}
		if since := t.fields[i].since; since > minor {
			return badRequest("Fields %s are not allowed in this API version. They require at least API version 1.%d.", name, since)
		}
	}
	return nil
}

// fill sets the fields of a POST on a new resource.
func (t *table[T]) fill(minor int, body map[string]any, of *T) error {
	for _, name := range sortedKeys(body) {
		i, ok := t.byName[name]
		if !ok || t.fields[i].use&creatable == 0 {
			return badRequest("Schema error for %s: %s", t.kind, additional(name))
		}
		if t.fields[i].since > minor {
			return notAcceptable()
		}
		if err := t.fields[i].set(of, body[name]); err != nil {
			return t.schemaFault(err)
		}
	}
	return nil
}

// schemaFault words a value of the wrong type or size as Ironic does; other
// errors keep their own words.
func (t *table[T]) schemaFault(err error) error { return schemaFault(t.kind, err) }

func schemaFault(kind string, err error) error {
	if wrong, ok := err.(*schemaError); ok { //nolint:errorlint // set functions return it bare
		return nodeapi.NewFault(http.StatusBadRequest, "Schema error for %s: %s", kind, wrong.text)
	}
	return err
}

// schemaError is a value that cannot be the value of a field.
type schemaError struct{ text string }

func (e *schemaError) Error() string { return e.text }

func wrongType(v any, types ...string) error {
	return &schemaError{fmt.Sprintf("%s is not of type '%s'", python(v), strings.Join(types, "', '"))}
}
