package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// schema is a JSON Schema (2020-12, the dialect of OpenAPI 3.1). One with the
// keyword named is kept once in the document, under that name.
type schema map[string]any

// named is where a schema has its name. The document does not show it.
const named = "x-name"

// wire is what goes over the wire on a route.
type wire struct {
	status       int        // of success; 0 for any
	query        []argument // arguments in the query
	takes, gives schema     // the bodies; nil for none
	media        string     // type of what it gives; JSON when ""
}

// argument is one ?name= and the microversion it came with.
type argument struct {
	name  string
	since int
}

// argumentsOf is the names of filters.
func argumentsOf[Q any](filters []filter[Q]) []argument {
	var all []argument
	for _, f := range filters {
		all = append(all, argument{f.name, f.since})
	}
	return all
}

func argumentsNamed(names []string) []argument {
	var all []argument
	for _, name := range names {
		all = append(all, argument{name: name})
	}
	return all
}

// gives is a route that answers with a document.
func gives(form schema, query ...string) wire {
	return wire{status: http.StatusOK, query: argumentsNamed(query), gives: form}
}

// takes is a route that answers with nothing but a status.
func takes(status int, form schema) wire { return wire{status: status, takes: form} }

// lists is a page of resources, narrowed by more.
func lists[T any](t *table[T], key string, more ...argument) wire {
	return wire{status: http.StatusOK, query: append(argumentsNamed(pageArgs()), more...), gives: pageForm(key, t.shape())}
}

func shows[T any](t *table[T]) wire { return gives(t.shape(), "fields") }

func adds[T any](t *table[T], required ...string) wire {
	return wire{status: http.StatusCreated, takes: t.creation(required), gives: t.shape()}
}

func patches[T any](t *table[T], query ...string) wire {
	return wire{status: http.StatusOK, query: argumentsNamed(query), takes: patchForm(), gives: t.shape()}
}

// shape is a resource as it is shown: of its fields those that the microversion
// has, or that were asked for.
func (t *table[T]) shape() schema {
	s := t.part(t.kind, sortedKeys(t.byName)...)
	for _, f := range t.fields {
		if f.use&(creatable|patchable) == 0 {
			p, _ := s["properties"].(schema)[f.name].(schema)
			p["readOnly"] = true
		}
	}
	return s
}

// part is some fields of a resource.
func (t *table[T]) part(name string, fields ...string) schema {
	properties := schema{}
	for _, field := range fields {
		properties[field] = described(t.fields[t.byName[field]])
	}
	return schema{named: name, "type": "object", "additionalProperties": false, "properties": properties}
}

// creation is what a POST may say.
func (t *table[T]) creation(required []string) schema {
	s := t.part(t.kind+"_create", t.usable(creatable, nodeapi.MaxMinor)...)
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// described is the schema of a field, with the microversion it came with.
func described[T any](f field[T]) schema {
	s := schema{}
	maps.Copy(s, f.form)
	if f.since > nodeapi.MinMinor {
		s["x-since"] = nodeapi.Version(f.since)
	}
	return s
}

// pageForm is one page of a list.
func pageForm(key string, item schema) schema {
	return schema{"type": "object", "required": []string{key}, "additionalProperties": false, "properties": schema{
		key:    schema{"type": "array", "items": item},
		"next": schema{"type": "string", "format": "uri", "description": "where the next page is; absent on the last"},
	}}
}

// patchForm is JSON patch as Ironic takes it.
func patchForm() schema {
	return schema{named: "patch", "type": "array", "items": schema{
		"type": "object", "required": []string{"op", "path"}, "additionalProperties": false, "properties": schema{
			"op": schema{"enum": []string{"add", "replace", "remove"}}, "path": schema{"type": "string"}, "value": schema{},
		},
	}}
}

// structure is an object with one key, and a value like this one.
func structure(name string, like any) schema {
	return schema{"type": "object", "required": []string{name}, "properties": schema{name: formOf(like)}}
}

// textForm is text of at most limit characters; 0 is for what only we write.
func textForm(limit int) schema {
	form := schema{"type": []string{"string", "null"}}
	if limit > 0 {
		form["maxLength"] = limit
	}
	return form
}

func objectForm() schema { return schema{"type": []string{"object", "null"}} }

func flagForm() schema { return schema{"type": []string{"boolean", "null"}} }

func timeForm() schema { return schema{"type": []string{"string", "null"}, "format": "date-time"} }

// wordForm is one of a few words.
func wordForm[S ~string](words ...S) schema {
	slices.Sort(words)
	return schema{"type": "string", "enum": words}
}

// linksForm is the links every resource has.
func linksForm() schema {
	return schema{named: "links", "type": "array", "items": schema{
		"type": "object", "required": []string{"href", "rel"}, "properties": schema{"href": schema{"type": "string"}, "rel": schema{"type": "string"}},
	}}
}

// commonForms is the fields that are worked out and look alike everywhere.
func commonForms() map[string]schema {
	text := textForm(maxText)
	return map[string]schema{
		"links": linksForm(), "ports": linksForm(), "portgroups": linksForm(), "states": linksForm(), "volume": linksForm(),
		"traits":               {"type": "array", "items": schema{"type": "string"}},
		"driver_internal_info": objectForm(), "clean_step": objectForm(), "deploy_step": objectForm(), "service_step": objectForm(),
		"provision_state": text, "reservation": text, "conductor": text, "health": text,
	}
}
