package hostapi

import "reflect"

// Schema is a schema in OpenAPI, as JSON has it.
type Schema = map[string]any

// SchemaOf is the schema of a kind's documents. meta refers to the schema of their metadata, MetaSchema, which all
// kinds share.
func SchemaOf(k Kind, meta string) Schema {
	t := reflect.TypeOf(k.New()).Elem()
	s := schemaOf(t)
	if properties, ok := s["properties"].(Schema); ok {
		properties["metadata"] = Schema{"$ref": meta}
	}
	s["description"] = k.Doc
	return s
}

// MetaSchema is the schema of the metadata that all documents share.
func MetaSchema() Schema {
	s := schemaOf(reflect.TypeFor[ObjectMeta]())
	s["description"] = "Metadata that all documents share."
	if properties, ok := s["properties"].(Schema); ok {
		properties["managedFields"] = Schema{
			"type": "array", "items": Schema{"type": "object"},
			"description": "Not kept: changes are not applied by the server.",
		}
	}
	return s
}

func schemaOf(t reflect.Type) Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[Time]():
			return Schema{"type": "string", "format": "date-time"}
		case reflect.TypeFor[IntOrString]():
			return Schema{"x-kubernetes-int-or-string": true}
		}
		return structSchema(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": "string", "format": "byte"}
		}
		return Schema{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return Schema{"type": "number", "format": "double"}
	default:
		return Schema{"type": "string"}
	}
}

func structSchema(t reflect.Type) Schema {
	properties := Schema{}
	var required []string
	fields := fieldsOf(t)
	for _, name := range sortedKeys(fields) {
		f := fields[name]
		s := schemaOf(f.Type)
		r := ruleOf(f)
		s["description"] = f.Tag.Get("doc")
		r.describe(s)
		if r.required {
			required = append(required, name)
		}
		properties[name] = s
	}
	s := Schema{"type": "object", "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

// describe adds a rule's demands to a schema. Forms are left to the server, which explains them better than a pattern.
func (r rule) describe(s Schema) {
	if r.enum != nil {
		s["enum"] = r.enum
	}
	for name, n := range map[string]*int64{"minimum": r.min, "maximum": r.max} {
		if n != nil {
			s[name] = *n
		}
	}
	for name, n := range map[string]*int{"minItems": r.minItems, "maxItems": r.maxItems, "maxLength": r.maxLen} {
		if n != nil {
			s[name] = *n
		}
	}
}
