package rest

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// FormOf is the schema of a value like this one as encoding/json writes it.
func FormOf(like any) Schema { return formOfType(reflect.TypeOf(like)) }

func formOfType(t reflect.Type) Schema {
	switch {
	case t == nil || t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return Schema{}
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	}
	switch t.Kind() { //nolint:exhaustive // what is not here cannot be JSON
	case reflect.Pointer:
		return Schema{"anyOf": []Schema{formOfType(t.Elem()), {"type": "null"}}}
	case reflect.Slice:
		return Schema{"type": "array", "items": formOfType(t.Elem())} // never null, as in Ironic: clients loop over it
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": formOfType(t.Elem())}
	case reflect.Struct:
		return formOfStruct(t)
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return Schema{"type": "number"}
	}
	return Schema{"type": "integer"}
}

func formOfStruct(t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		name = Or(name, f.Name)
		properties[name] = formOfType(f.Type)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	return Schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
