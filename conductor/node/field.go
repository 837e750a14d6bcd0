package node

import (
	"reflect"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Field is one field of a node: its row has all that the API, inspection rules, imports, the store, the audit and the
// CLI need to know of it.
type Field struct {
	Name        string
	Since       int // microversion 1.Since of the API
	Kind        FieldKind
	Use         FieldUse
	At          func(*Node) any // a pointer to its value; nil for ComputedField and InterfaceField
	FilterSince int             // of its filter, where that is newer than the field
	Limit       int             // characters of a text; 0 for nodeapi.MaxText
	// Mask hides the secrets of an ObjectField, which the store seals; nil where there are none.
	Mask func(map[string]any) map[string]any
	Flag string // help of its flag of node create and node set; "" for no such flag
	List string // help of its flag of node list; "" for no such flag
}

// FieldKind is how the value of a field is kept, read and shown.
type FieldKind uint8

// The kinds of fields.
const (
	ComputedField  FieldKind = iota // not of the record alone: the API works it out
	TextField                       // "" is null
	UUIDField                       // a text that is a UUID
	FlagField                       // true or false
	OptionalField                   // true, false or null
	ObjectField                     // free-form JSON
	ListField                       // texts
	TimeField                       // set by the conductor
	InterfaceField                  // <kind>_interface: one of Interfaces
)

// FieldUse is a set of uses of a field besides reading it.
type FieldUse uint16

// The uses of a field.
const (
	OnCreate   FieldUse = 1 << iota // a POST may set it
	OnPatch                         // a PATCH may set it
	RulesRead                       // inspection rules may put it into their texts
	RulesSet                        // and may change it
	Imported                        // an import sets it, which no POST may
	Compared                        // a repeated import compares it and takes changes of it
	InColumn                        // the store has a column of its name, to filter and sort by
	BusyColumn                      // a column that changes without an operator's doing
	FilterText                      // a list can be narrowed to one value of it
	FilterFlag                      // a list can be narrowed by true or false
	SparseText                      // most nodes have none, and those are not in its index
	Unaudited                       // not an operator's: the audit leaves it out
)

// FieldNamed finds a field; nil for none.
func FieldNamed(name string) *Field { return fieldsByName[name] }

var fieldsByName = func() map[string]*Field {
	all := map[string]*Field{}
	for i := range Fields {
		all[Fields[i].Name] = &Fields[i]
	}
	return all
}()

// Is reports whether a field has a use.
func (f *Field) Is(u FieldUse) bool { return f.Use&u != 0 }

// MaxLength is the most characters that a text may have.
func (f *Field) MaxLength() int {
	if f.Limit > 0 {
		return f.Limit
	}
	return nodeapi.MaxText
}

// InterfaceKind is the kind of interfaces (power, deploy) of an InterfaceField.
func (f *Field) InterfaceKind() string { return strings.TrimSuffix(f.Name, "_interface") }

// Text is the value of a text field that is kept as a string of any type.
func (f *Field) Text(n *Node) string {
	switch at := f.At(n).(type) {
	case *string:
		return *at
	case *State:
		return string(*at)
	case *PowerState:
		return string(*at)
	}
	panic(f.Name + " is not a text")
}

// Value is the value of a field as the record has it.
func (f *Field) Value(n *Node) any { return reflect.ValueOf(f.At(n)).Elem().Interface() }

// Copy gives a node the value that another has.
func (f *Field) Copy(to, from *Node) {
	reflect.ValueOf(f.At(to)).Elem().Set(reflect.ValueOf(f.At(from)).Elem())
}
