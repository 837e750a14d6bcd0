package remote

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// filled sets every field of a value that can be.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				filled(v.Field(i))
			}
		}
	case reflect.Pointer:
		if v.Type().Elem() == v.Type() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage(`{"raw":1}`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		of := reflect.New(v.Type().Elem()).Elem()
		filled(of)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), of)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"text": "a", "list": []any{1.5, true, nil}}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint8, reflect.Uint32:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

// TestActions: every action reaches the other side as it was, with every field.
func TestActions(t *testing.T) {
	for name, of := range actions {
		sent := reflect.New(of)
		filled(sent.Elem())
		a, _ := sent.Elem().Interface().(host.Action)
		o, err := orderOf(node.Node{UUID: "n1", Revision: 7}, a)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var read order
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		got, err := read.action()
		if diff := cmp.Diff(a, got); diff != "" || err != nil || read.Node != "n1" || read.Revision != 7 {
			t.Errorf("%s: %v (-sent +got):\n%s", name, err, diff)
		}
		_, err = reconciler.Act(t.Context(), &leader{}, "n1", got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&order{Action: "Explode"}).action(); err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("an unknown action: %v", err)
	}
}
