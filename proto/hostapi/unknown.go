package hostapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Prune removes unknown fields from a document, as it was read from JSON, and lists them: "spec.bmc.adress". Names are
// case-sensitive, as in Kubernetes and unlike encoding/json.
func Prune(k Kind, doc map[string]any) (unknown []string) {
	prune(reflect.TypeOf(k.New()).Elem(), doc, "", &unknown)
	return unknown
}

// silent reports whether servers write a field into every document, so that clients send it back.
func silent(path string) bool {
	return path == "metadata.managedFields" || path == "metadata.selfLink"
}

func prune(t reflect.Type, v any, path string, unknown *[]string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		switch {
		case t.Kind() == reflect.Struct && !whole(t):
			pruneStruct(t, v, path, unknown)
		case t.Kind() == reflect.Map:
			for _, name := range sortedKeys(v) {
				prune(t.Elem(), v[name], fmt.Sprintf("%s[%s]", path, name), unknown)
			}
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return
		}
		for i, e := range v {
			prune(t.Elem(), e, fmt.Sprintf("%s[%d]", path, i), unknown)
		}
	}
}

func pruneStruct(t reflect.Type, v map[string]any, path string, unknown *[]string) {
	known := fieldsOf(t)
	for _, name := range sortedKeys(v) {
		at := place("%s.%s", path, name)
		if f, ok := known[name]; ok {
			prune(f.Type, v[name], at, unknown)
			continue
		}
		delete(v, name)
		if !silent(at) {
			*unknown = append(*unknown, at)
		}
	}
}

// fieldsOf is the fields of a struct and of those embedded in it, by their names
// in documents.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	all := map[string]reflect.StructField{}
	for i := range t.NumField() {
		f := t.Field(i)
		if name := jsonName(f); name != "" {
			all[name] = f
		} else {
			maps.Copy(all, fieldsOf(f.Type))
		}
	}
	return all
}
