package rest

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ShowDocument answers with the description of this API in OpenAPI 3.1
// (spec.openapis.org/oas/v3.1.1), made of the route table and the tables of
// fields: nothing in it is written twice.
func (s *Server) ShowDocument(c *Call) error {
	body, err := s.document()
	if err != nil {
		return err
	}
	return c.RawJSON(http.StatusOK, body)
}

// Document is the description that ShowDocument answers with.
func (s *Server) Document() ([]byte, error) { return s.document() }

// document describes routes. The keyword x-since is the first microversion of a route or field; without it the first of
// all.
func document(routes []Route) Schema {
	d := describer{schemas: Schema{}}
	paths := Schema{}
	for _, r := range routes {
		path, parameters := template(r.Path)
		item, ok := paths[path].(Schema)
		if !ok {
			item = Schema{}
			if len(parameters) > 0 {
				item["parameters"] = parameters
			}
			paths[path] = item
		}
		item[strings.ToLower(r.Method)] = d.operation(r)
	}
	d.schemas["fault"] = faultForm()
	return Schema{
		"openapi": "3.1.0",
		"info": Schema{
			"title": "Ferrite", "version": nodeapi.Version(nodeapi.MaxMinor),
			"description": "The Bare Metal API of OpenStack Ironic under /v1, in microversions " +
				nodeapi.Version(nodeapi.MinMinor) + " to " +
				nodeapi.Version(nodeapi.MaxMinor) +
				", and under /ferrite/v1 what that has no word for. x-since is the microversion something came with.",
			"license": Schema{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []Schema{{"url": "/"}},
		"paths":   paths,
		"components": Schema{
			"schemas":    d.schemas,
			"parameters": versionParameters(),
			"headers":    answeredHeaders(),
			"responses": Schema{"fault": Schema{
				"description": "refused, or not done; error_message says why",
				"content":     Schema{jsonType: Schema{"schema": reference("schemas", "fault")}},
			}},
		},
	}
}

const jsonType = "application/json"

func reference(kind, name string) Schema { return Schema{"$ref": "#/components/" + kind + "/" + name} }

// template writes a path as OpenAPI does: /v1/nodes/{node}.
func template(path string) (string, []Schema) {
	var parameters []Schema
	parts := strings.Split(path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, ":")
		if !ok {
			continue
		}
		parts[i] = "{" + name + "}"
		parameters = append(parameters,
			Schema{"name": name, "in": "path", "required": true, "schema": Schema{"type": "string"}})
	}
	return strings.Join(parts, "/"), parameters
}

// describer gathers the schemas that have names.
type describer struct{ schemas Schema }

// operation describes one row.
func (d *describer) operation(r Route) Schema {
	versioned := strings.HasPrefix(r.Path, nodeapi.Root)
	o := Schema{"summary": r.Doc, "operationId": operationID(r), "responses": d.responses(r, versioned)}
	if r.Since > nodeapi.MinMinor {
		o["x-since"] = nodeapi.Version(r.Since)
	}
	var parameters []Schema
	if versioned {
		parameters = append(parameters, reference("parameters", "version"), reference("parameters", "service_version"))
	}
	for _, q := range r.Wire.Query {
		p := Schema{"name": q.Name, "in": "query", "schema": Schema{"type": "string"}}
		if q.Since > nodeapi.MinMinor {
			p["x-since"] = nodeapi.Version(q.Since)
		}
		parameters = append(parameters, p)
	}
	if r.Forcible != "" {
		parameters = append(parameters, Schema{
			"name": nodeapi.HeaderForce, "in": "header", "schema": Schema{"type": "string", "enum": []string{"true", "false"}},
			"description": "true: takes " + r.Forcible + ", which are refused by default",
		})
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	if r.Wire.Takes != nil {
		o["requestBody"] = Schema{"required": true, "content": Schema{
			Or(r.Wire.TakesMedia, jsonType): Schema{"schema": d.keep(r.Wire.Takes)}}}
	}
	return o
}

// responses of a row: success, where the row can have any, and a fault.
func (d *describer) responses(r Route, versioned bool) Schema {
	all := Schema{"default": reference("responses", "fault")}
	if strings.HasPrefix(r.Doc, "refused") {
		return all
	}
	success := Schema{"description": "done"}
	if versioned {
		headers := Schema{}
		for name := range answeredHeaders() {
			headers[name] = reference("headers", name)
		}
		success["headers"] = headers
	}
	if r.Wire.Gives != nil {
		success["content"] = Schema{Or(r.Wire.Media, jsonType): Schema{"schema": d.keep(r.Wire.Gives)}}
	}
	all[statusOfSuccess(r)] = success
	return all
}

func statusOfSuccess(r Route) string {
	switch {
	case r.Wire.Status != 0:
		return strconv.Itoa(r.Wire.Status)
	case r.Method == http.MethodGet:
		return strconv.Itoa(http.StatusOK)
	case r.Method == http.MethodDelete && r.Wire.Gives == nil:
		return strconv.Itoa(http.StatusNoContent)
	}
	return "2XX"
}

// operationID is the method and the path in one word: get_v1_nodes_node.
func operationID(r Route) string {
	words := strings.FieldsFunc(r.Path, func(c rune) bool { return strings.ContainsRune("/:.", c) })
	if len(words) == 0 {
		words = []string{"root"}
	}
	return strings.ToLower(r.Method) + "_" + strings.Join(words, "_")
}

// keep puts the schemas that have names among the components, and returns s
// with references in their place.
func (d *describer) keep(s Schema) Schema {
	out := Schema{}
	for key, value := range s {
		switch v := value.(type) {
		case Schema:
			out[key] = d.keep(v)
		case []Schema:
			list := make([]Schema, len(v))
			for i := range v {
				list[i] = d.keep(v[i])
			}
			out[key] = list
		default:
			out[key] = v
		}
	}
	name, ok := s[Named].(string)
	if !ok {
		return out
	}
	delete(out, Named)
	of := Schema{}
	for _, extra := range []string{"x-since", "readOnly"} { // said of the place, not of the schema
		if v, ok := out[extra]; ok {
			of[extra] = v
			delete(out, extra)
		}
	}
	d.schemas[name] = out
	maps.Copy(of, reference("schemas", name))
	return of
}

// faultForm is an error. Ironic puts one document as text into another.
func faultForm() Schema {
	return Schema{"type": "object", "required": []string{"error_message"}, "properties": Schema{
		"error_message": Schema{
			"type": "string", "contentMediaType": jsonType,
			"description": "JSON in a string: {faultcode, faultstring, debuginfo}, or {code, title, description} where no " +
				"resource was reached",
		},
	}}
}

func versionParameters() Schema {
	return Schema{
		"version": Schema{
			"name": nodeapi.HeaderVersion, "in": "header",
			"schema":      Schema{"type": "string", "examples": []string{nodeapi.Version(nodeapi.MaxMinor), "latest"}},
			"description": "the microversion asked for; " + nodeapi.Version(nodeapi.MinMinor) + " when absent",
		},
		"service_version": Schema{
			"name": nodeapi.HeaderServiceVersion, "in": "header",
			"schema":      Schema{"type": "string", "examples": []string{"baremetal " + nodeapi.Version(nodeapi.MaxMinor)}},
			"description": "the same in the form common to all of OpenStack; " + nodeapi.HeaderVersion + " counts more",
		},
	}
}

func answeredHeaders() Schema {
	text := func(what string) Schema { return Schema{"description": what, "schema": Schema{"type": "string"}} }
	return Schema{
		nodeapi.HeaderMinVersion: text("the oldest microversion served"),
		nodeapi.HeaderMaxVersion: text("the newest microversion served"),
		nodeapi.HeaderVersion:    text("the microversion of this answer"),
		nodeapi.HeaderRequestID:  text("names this request in the log"),
	}
}
