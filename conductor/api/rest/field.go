package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Use is the set of operations on a field besides reading it.
type Use uint8

// The uses of a field, which are combined.
const (
	Creatable Use = 1 << iota // a POST may set it
	Patchable                 // a PATCH may set it
	Sortable                  // sort_key may name it
	FullOnly                  // shown with the whole resource only; fields= cannot ask for it
	Unseen                    // never shown: an argument of a POST that is no field
)

// Field is one field of a resource: all there is to know of it, in one row.
type Field[T any] struct {
	Name  string
	Since int // microversion 1.since
	Use   Use
	Show  func(dst []byte, v *View[T]) []byte // writes it as JSON
	Get   func(*T) any                        // the value before a patch, secrets in clear; nil unless patchable
	Set   func(*T, any) error                 // takes a decoded JSON value; nil is null, back to the default
	Form  Schema                              // of its values, for the document of the API; nil for anything
}

// View is a resource as one request sees it.
type View[T any] struct {
	Of    *T
	Minor int
	Base  string // http://host:port
	// Of nodes only: the conductor's host, the host that holds the reservation, and where one node is shown the reason
	// why it is not at rest.
	Host, Reserved string
	Status         *nodeapi.Status
	Caller         *auth.Caller // perhaps without the right to see all of it
}

// Table is the fields of a resource in the order they are shown.
type Table[T any] struct {
	Kind   string // node, port: for error texts
	fields []Field[T]
	keys   []string // "name": quoted, with the colon
	ByName map[string]int
}

// NewTable makes a table; kind names the resource in error texts.
func NewTable[T any](kind string, fields []Field[T]) *Table[T] {
	t := &Table[T]{Kind: kind, fields: fields, ByName: map[string]int{}}
	for i, f := range fields {
		t.keys = append(t.keys, `"`+f.Name+`":`)
		t.ByName[f.Name] = i
	}
	return t
}

// Selection is which fields to show: indexes into the table, ascending.
type Selection []int

// Full selects all that exists in a microversion.
func (t *Table[T]) Full(minor int) Selection {
	s := make(Selection, 0, len(t.fields))
	for i := range t.fields {
		if t.fields[i].Since <= minor && t.fields[i].Use&Unseen == 0 {
			s = append(s, i)
		}
	}
	return s
}

// Pick selects by name; names must exist. Those too new are left out.
func (t *Table[T]) Pick(minor int, names ...string) Selection {
	s := make(Selection, 0, len(names))
	for _, name := range names {
		if i := t.ByName[name]; t.fields[i].Since <= minor {
			s = append(s, i)
		}
	}
	slices.Sort(s)
	return s
}

// Selected selects the fields in ?fields=, and links, which are always shown.
func (t *Table[T]) Selected(minor int, names string) (Selection, error) {
	s := Selection{t.ByName["links"]}
	var unknown []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		i, ok := t.ByName[name]
		switch {
		case !ok || t.fields[i].Use&(FullOnly|Unseen) != 0:
			unknown = append(unknown, `"`+name+`"`)
		case t.fields[i].Since > minor:
			return nil, NotAcceptable()
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

// Render writes the selected fields of one resource.
func (t *Table[T]) Render(dst []byte, s Selection, v *View[T]) []byte {
	dst = append(dst, '{')
	for n, i := range s {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t.keys[i]...)
		dst = t.fields[i].Show(dst, v)
	}
	return append(dst, '}')
}

// SortKey checks a ?sort_key=.
func (t *Table[T]) SortKey(minor int, name string) (string, error) {
	if name == "" || name == "id" {
		return "", nil
	}
	i, ok := t.ByName[name]
	switch {
	case ok && t.fields[i].Since > minor:
		return "", NotAcceptable()
	case !ok || t.fields[i].Use&Sortable == 0:
		return "", nodeapi.NewFault(http.StatusBadRequest, "The sort_key value %q is an invalid field for sorting", name)
	}
	return name, nil
}

// usable lists the names with the given use, for error texts.
func (t *Table[T]) usable(u Use, minor int) []string {
	var names []string
	for _, f := range t.fields {
		if f.Use&u != 0 && f.Since <= minor {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Known refuses names that are no fields, or are in later versions only.
func (t *Table[T]) Known(minor int, names []string) error {
	for _, name := range names {
		i, ok := t.ByName[name]
		if !ok {
			return BadRequest("Field(s) %q are not valid", name)
		}
		if since := t.fields[i].Since; since > minor {
			return BadRequest("Fields %s are not allowed in this API version. They require at least API version 1.%d.", name,
				since)
		}
	}
	return nil
}

// Replace puts another field in the place of the one of its name.
func (t *Table[T]) Replace(f Field[T]) { t.fields[t.ByName[f.Name]] = f }

// Fill sets the fields of a POST on a new resource.
func (t *Table[T]) Fill(minor int, body map[string]any, of *T) error {
	return t.FillMore(minor, body, of, nil)
}

// FillMore is Fill that takes more fields than a POST may set: those named, by a function of their own, or by the
// table's where that is nil.
func (t *Table[T]) FillMore(minor int, body map[string]any, of *T, more map[string]func(*T, any) error) error {
	for _, name := range SortedKeys(body) {
		i, ok := t.ByName[name]
		if ok {
			if err := nodeapi.CheckSize(name, nil, body[name]); err != nil {
				return BadRequest("Schema error for %s: %v", t.Kind, err)
			}
		}
		if set, extra := more[name]; extra {
			if set == nil {
				set = t.fields[i].Set
			}
			if err := set(of, body[name]); err != nil {
				return t.SchemaFault(err)
			}
			continue
		}
		if !ok || t.fields[i].Use&Creatable == 0 {
			return BadRequest("Schema error for %s: %s", t.Kind, Additional(name))
		}
		if t.fields[i].Since > minor {
			return NotAcceptable()
		}
		if err := t.fields[i].Set(of, body[name]); err != nil {
			return t.SchemaFault(err)
		}
	}
	return nil
}

// SchemaFault words a value of the wrong type or size as Ironic does; other
// errors keep their own words.
func (t *Table[T]) SchemaFault(err error) error { return SchemaFault(t.Kind, err) }

// SchemaFault words a value of the wrong type or size of a resource as Ironic does.
func SchemaFault(kind string, err error) error {
	if wrong, ok := err.(*SchemaError); ok { //nolint:errorlint // set functions return it bare
		return nodeapi.NewFault(http.StatusBadRequest, "Schema error for %s: %s", kind, wrong.Text)
	}
	return err
}

// SchemaError is a value that cannot be the value of a field.
type SchemaError struct{ Text string }

func (e *SchemaError) Error() string { return e.Text }

// WrongType is the error of a value that is of none of the types.
func WrongType(v any, types ...string) error {
	return &SchemaError{fmt.Sprintf("%s is not of type '%s'", Python(v), strings.Join(types, "', '"))}
}
