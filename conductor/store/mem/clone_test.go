package mem

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestClone: a copy is the same, and nothing done to it reaches the original.
func TestClone(t *testing.T) {
	type leaf struct{ Words []string }
	type record struct {
		Name    string
		When    time.Time
		Any     any
		Map     map[string]any
		Leaf    *leaf
		Leaves  []leaf
		ByName  map[string]leaf
		Bytes   json.RawMessage
		Fixed   [2][]int
		Missing *leaf
		None    map[string]string
		Empty   []string
	}
	made := func() record {
		return record{
			Name: "n", When: time.Unix(1, 0).UTC(), Any: []any{map[string]any{"a": 1.0}}, Map: map[string]any{"m": []any{"x"}},
			Leaf: &leaf{[]string{"one"}}, Leaves: []leaf{{[]string{"two"}}}, ByName: map[string]leaf{"b": {[]string{"three"}}},
			Bytes: json.RawMessage("{}"), Fixed: [2][]int{{1}, {2}}, Empty: []string{},
		}
	}
	kept := made()
	c := clone(kept)
	if diff := cmp.Diff(made(), c); diff != "" {
		t.Errorf("the copy (-kept +copy):\n%s", diff)
	}
	c.Any.([]any)[0].(map[string]any)["a"] = 2.0
	c.Map["m"].([]any)[0] = "y"
	c.Leaf.Words[0], c.Leaves[0].Words[0], c.ByName["b"].Words[0] = "", "", ""
	c.Bytes[0], c.Fixed[1][0] = 0, 0
	if diff := cmp.Diff(made(), kept); diff != "" {
		t.Errorf("what is kept was changed by way of its copy (-want +got):\n%s", diff)
	}
}

// TestRecordsCanBeCloned: nothing that a record shares hides from clone in a field
// that is not exported.
func TestRecordsCanBeCloned(t *testing.T) {
	seen := map[reflect.Type]bool{reflect.TypeFor[time.Time](): true}
	var look func(path string, in reflect.Type)
	look = func(path string, in reflect.Type) {
		if seen[in] {
			return
		}
		seen[in] = true
		switch in.Kind() {
		case reflect.Struct:
			for i := range in.NumField() {
				f := in.Field(i)
				if !f.IsExported() {
					t.Errorf("%s.%s is not exported: clone would share it", path, f.Name)
				}
				look(path+"."+f.Name, f.Type)
			}
		case reflect.Map:
			look(path, in.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(path, in.Elem())
		case reflect.Chan, reflect.Func, reflect.UnsafePointer:
			t.Errorf("%s is a %s, which nothing copies", path, in)
		default:
		}
	}
	for _, in := range []reflect.Type{
		reflect.TypeFor[node.Node](), reflect.TypeFor[node.Port](), reflect.TypeFor[node.HardwareReport](),
		reflect.TypeFor[node.DeployTemplate](), reflect.TypeFor[node.Runbook](), reflect.TypeFor[node.Allocation](),
		reflect.TypeFor[node.Chassis](), reflect.TypeFor[node.Portgroup](), reflect.TypeFor[node.VolumeConnector](),
		reflect.TypeFor[node.VolumeTarget](), reflect.TypeFor[node.InspectionRule](), reflect.TypeFor[node.EraseReport](),
		reflect.TypeFor[node.Image](),
	} {
		look(in.Name(), in)
	}
}
