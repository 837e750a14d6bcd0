package rest

import (
	"maps"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Schema is a JSON Schema (2020-12, the dialect of OpenAPI 3.1). One with the
// keyword named is kept once in the document, under that name.
type Schema map[string]any

// Named is where a schema has its name. The document does not show it.
const Named = "x-name"

// Wire describes the query, bodies and status of a route, for the OpenAPI document.
type Wire struct {
	Status       int        // of success; 0 for any
	Query        []Argument // arguments in the query
	Takes, Gives Schema     // the bodies; nil for none
	Media        string     // type of the answer's body; JSON when ""
	TakesMedia   string     // type of the request's body; JSON when ""
}

// Argument is one ?name= and the microversion it came with.
type Argument struct {
	Name  string
	Since int
}

// Pages reports whether the route gives a list by pages: see PageForm and AnswerLines.
func (w Wire) Pages() bool {
	properties, _ := w.Gives["properties"].(Schema)
	follows := slices.ContainsFunc(w.Query, func(q Argument) bool { return q.Name == "follow" })
	return properties["next"] != nil || w.Media == nodeapi.MediaLines && !follows
}

// ArgumentsOf is the names of filters.
func ArgumentsOf[Q any](filters []Filter[Q]) []Argument {
	var all []Argument
	for _, f := range filters {
		all = append(all, Argument{f.Name, f.Since})
	}
	return all
}

// ArgumentsNamed is arguments that came with the route.
func ArgumentsNamed(names []string) []Argument {
	var all []Argument
	for _, name := range names {
		all = append(all, Argument{Name: name})
	}
	return all
}

// Returns is a route that answers with a document.
func Returns(form Schema, query ...string) Wire {
	return Wire{Status: http.StatusOK, Query: ArgumentsNamed(query), Gives: form}
}

// Accepts is a route that answers with nothing but a status.
func Accepts(status int, form Schema) Wire { return Wire{Status: status, Takes: form} }

// Lists is a page of resources, narrowed by more.
func Lists[T any](t *Table[T], key string, more ...Argument) Wire {
	return Wire{Status: http.StatusOK, Query: append(ArgumentsNamed(PageArgs()), more...), Gives: PageForm(key, t.shape())}
}

// Shows is a route that answers with one record.
func Shows[T any](t *Table[T]) Wire { return Returns(t.shape(), "fields") }

// Creates is a route that takes a new record and answers with it.
func Creates[T any](t *Table[T], required ...string) Wire {
	return Wire{Status: http.StatusCreated, Takes: t.creation(required), Gives: t.shape()}
}

// Patches is a route that takes a JSON patch and answers with the record.
func Patches[T any](t *Table[T], query ...string) Wire {
	return Wire{Status: http.StatusOK, Query: ArgumentsNamed(query), Takes: patchForm(), Gives: t.shape()}
}

// shape is the schema of a resource in answers. An answer has those fields that its microversion has, or that ?fields=
// names.
func (t *Table[T]) shape() Schema {
	s := t.Part(t.Kind, SortedKeys(t.ByName)...)
	for _, f := range t.fields {
		if f.Use&(Creatable|Patchable) == 0 {
			p, _ := s["properties"].(Schema)[f.Name].(Schema)
			p["readOnly"] = true
		}
	}
	return s
}

// Part is some fields of a resource.
func (t *Table[T]) Part(name string, fields ...string) Schema {
	properties := Schema{}
	for _, field := range fields {
		properties[field] = described(t.fields[t.ByName[field]])
	}
	return Schema{Named: name, "type": "object", "additionalProperties": false, "properties": properties}
}

// creation is the schema of a POST.
func (t *Table[T]) creation(required []string) Schema {
	s := t.Part(t.Kind+"_create", t.usable(Creatable, nodeapi.MaxMinor)...)
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// described is the schema of a field, with the microversion it came with.
func described[T any](f Field[T]) Schema {
	s := Schema{}
	maps.Copy(s, f.Form)
	if f.Since > nodeapi.MinMinor {
		s["x-since"] = nodeapi.Version(f.Since)
	}
	return s
}

// PageForm is one page of a list.
func PageForm(key string, item Schema) Schema {
	return Schema{"type": "object", "required": []string{key}, "additionalProperties": false, "properties": Schema{
		key:    Schema{"type": "array", "items": item},
		"next": Schema{"type": "string", "format": "uri", "description": "where the next page is; absent on the last"},
	}}
}

// patchForm is JSON patch as Ironic takes it.
func patchForm() Schema {
	return Schema{Named: "patch", "type": "array", "items": Schema{
		"type": "object", "required": []string{"op", "path"}, "additionalProperties": false, "properties": Schema{
			"op": Schema{"enum": []string{"add", "replace", "remove"}}, "path": Schema{"type": "string"}, "value": Schema{},
		},
	}}
}

// Structure is an object with one key, and a value like this one.
func Structure(name string, like any) Schema {
	return Schema{"type": "object", "required": []string{name}, "properties": Schema{name: FormOf(like)}}
}

// TextForm is text of at most limit characters; 0 is for text that only the conductor writes.
func TextForm(limit int) Schema {
	form := Schema{"type": []string{"string", "null"}}
	if limit > 0 {
		form["maxLength"] = limit
	}
	return form
}

// ObjectForm is any object, or null.
func ObjectForm() Schema { return Schema{"type": []string{"object", "null"}} }

// FlagForm is a boolean, or null.
func FlagForm() Schema { return Schema{"type": []string{"boolean", "null"}} }

// TimeForm is a time, or null.
func TimeForm() Schema { return Schema{"type": []string{"string", "null"}, "format": "date-time"} }

// WordForm is one of a few words.
func WordForm[S ~string](words ...S) Schema {
	slices.Sort(words)
	return Schema{"type": "string", "enum": words}
}

// LinksForm is the links every resource has.
func LinksForm() Schema {
	return Schema{Named: "links", "type": "array", "items": Schema{
		"type": "object", "required": []string{"href", "rel"},
		"properties": Schema{"href": Schema{"type": "string"}, "rel": Schema{"type": "string"}},
	}}
}

// commonForms is the fields that are worked out and look alike everywhere.
func commonForms() map[string]Schema {
	text := TextForm(MaxText)
	return map[string]Schema{
		"links": LinksForm(), "ports": LinksForm(), "portgroups": LinksForm(), "states": LinksForm(), "volume": LinksForm(),
		"traits":               {"type": "array", "items": Schema{"type": "string"}},
		"driver_internal_info": ObjectForm(), "clean_step": ObjectForm(), "deploy_step": ObjectForm(),
		"service_step":    ObjectForm(),
		"provision_state": text, "reservation": text, "conductor": text, "health": text,
	}
}
