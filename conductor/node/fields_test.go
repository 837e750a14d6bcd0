package node

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// kindTypes are how a node may keep the values of a kind.
var kindTypes = map[FieldKind][]any{
	TextField:     {new(string), new(State), new(PowerState)},
	UUIDField:     {new(string)},
	FlagField:     {new(bool)},
	OptionalField: {new(*bool)},
	ObjectField:   {new(map[string]any)},
	ListField:     {new([]string)},
	TimeField:     {new(time.Time), new(*time.Time)},
}

// TestFields: each row has the place in the record of its own name, and of its kind.
func TestFields(t *testing.T) {
	places := map[string]uintptr{}
	var n Node
	of := reflect.TypeFor[Node]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		places[name] = of.Field(i).Offset
	}
	seen := map[string]bool{}
	for i := range Fields {
		f := &Fields[i]
		if seen[f.Name] || FieldNamed(f.Name) != f {
			t.Errorf("%s has two rows", f.Name)
		}
		seen[f.Name] = true
		if f.Kind == ComputedField || f.Kind == InterfaceField {
			if f.At != nil {
				t.Errorf("%s has a place, which its kind has not", f.Name)
			}
			continue
		}
		at := reflect.ValueOf(f.At(&n))
		if at.Pointer()-reflect.ValueOf(&n).Pointer() != places[f.Name] || places[f.Name] == 0 && f.Name != "uuid" {
			t.Errorf("%s is at another field's place in the record", f.Name)
		}
		known := false
		for _, kept := range kindTypes[f.Kind] {
			known = known || reflect.TypeOf(kept) == at.Type()
		}
		if !known {
			t.Errorf("%s is kept as %s, which its kind %d is not", f.Name, at.Type().Elem(), f.Kind)
		}
	}
	for _, kind := range InterfaceKinds() {
		if f := FieldNamed(kind + "_interface"); f == nil || f.Kind != InterfaceField || f.InterfaceKind() != kind {
			t.Errorf("the interface %s has no field", kind)
		}
	}
}

// TestCloneOfObjects: a copy of a node shares no object with it.
func TestCloneOfObjects(t *testing.T) {
	for i := range Fields {
		if f := &Fields[i]; f.Kind == ObjectField {
			n := Node{}
			*f.At(&n).(*map[string]any) = map[string]any{}
			c := n.Clone()
			(*f.At(&c).(*map[string]any))["a"] = 1
			if len(*f.At(&n).(*map[string]any)) > 0 {
				t.Errorf("a copy shares %s", f.Name)
			}
		}
	}
}

// TestClientFields: clients import proto alone, so their part of the table is generated.
func TestClientFields(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("// Code generated from conductor/node/fields.go by go test ./conductor/node -run Fields -update. " +
		"DO NOT EDIT.\n\npackage nodeapi\n\n// nodeFields is the table of fields as far as clients need it.\n" +
		"var nodeFields = []NodeField{\n")
	for i := range Fields {
		f := &Fields[i]
		fmt.Fprintf(&out, "{Name: %q", f.Name)
		for name, set := range map[FieldKind]string{ObjectField: "Object", InterfaceField: "Interface"} {
			if f.Kind == name {
				fmt.Fprintf(&out, ", %s: true", set)
			}
		}
		if f.Is(OnCreate | Imported) {
			out.WriteString(", Import: true")
		}
		for _, help := range []struct{ name, text string }{{"Flag", f.Flag}, {"List", f.List}} {
			if help.text != "" {
				fmt.Fprintf(&out, ", %s: %q", help.name, help.text)
			}
		}
		out.WriteString("},\n")
	}
	out.WriteString("}\n")
	want, err := format.Source(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../proto/nodeapi/node_fields_generated.go"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := os.ReadFile(path); err != nil || !bytes.Equal(found, want) {
		t.Errorf("%s is not current (%v): go test ./conductor/node -run Fields -update", path, err)
	}
}
