package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// formOf is the schema of what encoding/json makes of a value like this one.
func formOf(like any) schema { return formOfType(reflect.TypeOf(like)) }

func formOfType(t reflect.Type) schema {
	switch {
	case t == nil || t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return schema{}
	case t == reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() { //nolint:exhaustive // what is not here cannot be JSON
	case reflect.Pointer:
		return schema{"anyOf": []schema{formOfType(t.Elem()), {"type": "null"}}}
	case reflect.Slice:
		return schema{"type": "array", "items": formOfType(t.Elem())} // never null, as in Ironic: clients loop over it
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": formOfType(t.Elem())}
	case reflect.Struct:
		return formOfStruct(t)
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return schema{"type": "number"}
	}
	return schema{"type": "integer"}
}

func formOfStruct(t reflect.Type) schema {
	properties, required := schema{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		name = cmpOr(name, f.Name)
		properties[name] = formOfType(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	return schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
