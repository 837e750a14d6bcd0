package api

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// showDocument answers with the description of this API in OpenAPI 3.1
// (spec.openapis.org/oas/v3.1.1), made of the route table and the tables of
// fields: nothing in it is written twice.
func (s *Server) showDocument(c *call) error {
	body, err := s.document()
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, body)
}

// document describes routes. The keyword x-since is the microversion from which
// on something exists; what has none was there from the beginning.
func document(routes []route) schema {
	d := describer{schemas: schema{}}
	paths := schema{}
	for _, r := range routes {
		path, parameters := template(r.path)
		item, ok := paths[path].(schema)
		if !ok {
			item = schema{}
			if len(parameters) > 0 {
				item["parameters"] = parameters
			}
			paths[path] = item
		}
		item[strings.ToLower(r.method)] = d.operation(r)
	}
	d.schemas["fault"] = faultForm()
	return schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "Ferrite", "version": nodeapi.Version(nodeapi.MaxMinor),
			"description": "The Bare Metal API of OpenStack Ironic under /v1, in microversions " + nodeapi.Version(nodeapi.MinMinor) + " to " +
				nodeapi.Version(nodeapi.MaxMinor) + ", and under /ferrite/v1 what that has no word for. x-since is the microversion something came with.",
			"license": schema{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []schema{{"url": "/"}},
		"paths":   paths,
		"components": schema{
			"schemas":    d.schemas,
			"parameters": versionParameters(),
			"headers":    answeredHeaders(),
			"responses": schema{"fault": schema{
				"description": "refused, or not done; error_message says why",
				"content":     schema{jsonType: schema{"schema": reference("schemas", "fault")}},
			}},
		},
	}
}

const jsonType = "application/json"

func reference(kind, name string) schema { return schema{"$ref": "#/components/" + kind + "/" + name} }

// template writes a path as OpenAPI does: /v1/nodes/{node}.
func template(path string) (string, []schema) {
	var parameters []schema
	parts := strings.Split(path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, ":")
		if !ok {
			continue
		}
		parts[i] = "{" + name + "}"
		parameters = append(parameters, schema{"name": name, "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	return strings.Join(parts, "/"), parameters
}

// describer gathers the schemas that have names.
type describer struct{ schemas schema }

// operation describes one row.
func (d *describer) operation(r route) schema {
	versioned := strings.HasPrefix(r.path, nodeapi.Root)
	o := schema{"summary": r.doc, "operationId": operationID(r), "responses": d.responses(r, versioned)}
	if r.since > nodeapi.MinMinor {
		o["x-since"] = nodeapi.Version(r.since)
	}
	var parameters []schema
	if versioned {
		parameters = append(parameters, reference("parameters", "version"), reference("parameters", "service_version"))
	}
	for _, q := range r.wire.query {
		p := schema{"name": q.name, "in": "query", "schema": schema{"type": "string"}}
		if q.since > nodeapi.MinMinor {
			p["x-since"] = nodeapi.Version(q.since)
		}
		parameters = append(parameters, p)
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	if r.wire.takes != nil {
		o["requestBody"] = schema{"required": true, "content": schema{jsonType: schema{"schema": d.keep(r.wire.takes)}}}
	}
	return o
}

// responses of a row: success, where the row can have any, and a fault.
func (d *describer) responses(r route, versioned bool) schema {
	all := schema{"default": reference("responses", "fault")}
	if strings.HasPrefix(r.doc, "refused") {
		return all
	}
	success := schema{"description": "done"}
	if versioned {
		headers := schema{}
		for name := range answeredHeaders() {
			headers[name] = reference("headers", name)
		}
		success["headers"] = headers
	}
	if r.wire.gives != nil {
		success["content"] = schema{cmpOr(r.wire.media, jsonType): schema{"schema": d.keep(r.wire.gives)}}
	}
	all[statusOfSuccess(r)] = success
	return all
}

func statusOfSuccess(r route) string {
	switch {
	case r.wire.status != 0:
		return strconv.Itoa(r.wire.status)
	case r.method == http.MethodGet:
		return strconv.Itoa(http.StatusOK)
	case r.method == http.MethodDelete && r.wire.gives == nil:
		return strconv.Itoa(http.StatusNoContent)
	}
	return "2XX"
}

// operationID is the method and the path in one word: get_v1_nodes_node.
func operationID(r route) string {
	words := strings.FieldsFunc(r.path, func(c rune) bool { return strings.ContainsRune("/:.", c) })
	if len(words) == 0 {
		words = []string{"root"}
	}
	return strings.ToLower(r.method) + "_" + strings.Join(words, "_")
}

// keep puts the schemas that have names among the components, and returns s
// with references in their place.
func (d *describer) keep(s schema) schema {
	out := schema{}
	for key, value := range s {
		switch v := value.(type) {
		case schema:
			out[key] = d.keep(v)
		case []schema:
			list := make([]schema, len(v))
			for i := range v {
				list[i] = d.keep(v[i])
			}
			out[key] = list
		default:
			out[key] = v
		}
	}
	name, ok := s[named].(string)
	if !ok {
		return out
	}
	delete(out, named)
	of := schema{}
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
func faultForm() schema {
	return schema{"type": "object", "required": []string{"error_message"}, "properties": schema{
		"error_message": schema{
			"type": "string", "contentMediaType": jsonType,
			"description": "JSON in a string: {faultcode, faultstring, debuginfo}, or {code, title, description} where no resource was reached",
		},
	}}
}

func versionParameters() schema {
	return schema{
		"version": schema{
			"name": nodeapi.HeaderVersion, "in": "header", "schema": schema{"type": "string", "examples": []string{nodeapi.Version(nodeapi.MaxMinor), "latest"}},
			"description": "the microversion asked for; " + nodeapi.Version(nodeapi.MinMinor) + " when absent",
		},
		"service_version": schema{
			"name": nodeapi.HeaderServiceVersion, "in": "header", "schema": schema{"type": "string", "examples": []string{"baremetal " + nodeapi.Version(nodeapi.MaxMinor)}},
			"description": "the same in the form common to all of OpenStack; " + nodeapi.HeaderVersion + " counts more",
		},
	}
}

func answeredHeaders() schema {
	text := func(what string) schema { return schema{"description": what, "schema": schema{"type": "string"}} }
	return schema{
		nodeapi.HeaderMinVersion: text("the oldest microversion served"),
		nodeapi.HeaderMaxVersion: text("the newest microversion served"),
		nodeapi.HeaderVersion:    text("the microversion of this answer"),
		nodeapi.HeaderRequestID:  text("names this request in the log"),
	}
}
