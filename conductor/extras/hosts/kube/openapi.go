package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// openAPI is the description of the API, in the forms that clients ask for:
// kubectl checks and explains documents by it.
type openAPI struct {
	v2, v2Proto []byte
	v3          map[string][]byte // by group and version: "api/v1"
}

// Media types of the second version in protobuf. Older clients ask for a name that RFC 6838 does not allow, and cannot
// parse an answer of that type.
const (
	openAPIProtoOld = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	openAPIProto    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// openapi answers the description.
func (s *Server) openapi(c *call, path []string) error {
	if c.Method != http.MethodGet {
		return noMethod()
	}
	all, err := s.schema()
	if err != nil {
		return err
	}
	switch at := strings.Join(path, "/"); {
	case at == "v2":
		for wanted := range strings.SplitSeq(c.Header.Get("Accept"), ",") {
			if kind, _ := mediaType(wanted); kind == openAPIProto || kind == openAPIProtoOld {
				return s.bytes(c, openAPIProto, all.v2Proto)
			}
		}
		return s.bytes(c, "application/json", all.v2)
	case at == "v3":
		paths := doc{}
		for name := range all.v3 {
			paths[name] = doc{"serverRelativeURL": "/openapi/v3/" + name}
		}
		return s.raw(c, "application/json", doc{"paths": paths})
	case strings.HasPrefix(at, "v3/") && all.v3[at[3:]] != nil:
		return s.bytes(c, "application/json", all.v3[at[3:]])
	}
	return noPath()
}

// raw answers with a value in a form that the client has asked for.
func (s *Server) raw(c *call, kind string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.bytes(c, kind, text)
}

func (s *Server) bytes(c *call, kind string, text []byte) error {
	c.w.Header().Set("Content-Type", kind)
	c.w.WriteHeader(http.StatusOK)
	_, err := c.w.Write(text)
	return err
}

// newOpenAPI makes all forms.
func newOpenAPI() (o openAPI, err error) {
	definitions, paths := doc{}, doc{}
	o.v3 = map[string][]byte{}
	for _, group := range []string{"", hostapi.Group} {
		inGroup := doc{}
		for _, k := range hostapi.Kinds() {
			if k.Group == group {
				definitions[schemaName(k)] = kindSchema(k, "#/definitions/")
				pathsOf(k, paths, v2Operation)
				pathsOf(k, inGroup, v3Operation)
			}
		}
		if o.v3[prefixOf(group)], err = json.Marshal(v3Document(group, inGroup)); err != nil {
			return o, err
		}
	}
	definitions[metaName] = hostapi.MetaSchema()
	o.v2, err = json.Marshal(doc{"swagger": "2.0", "info": info(), "paths": paths, "definitions": definitions})
	if err != nil {
		return o, err
	}
	parsed, err := openapi_v2.ParseDocument(o.v2)
	if err != nil {
		return o, fmt.Errorf("the description of the API: %w", err)
	}
	o.v2Proto, err = proto.Marshal(parsed)
	return o, err
}

func info() doc { return doc{"title": "Ferrite: Metal3's hosts", "version": "v" + apiVersion + ".0"} }

// metaName is Kubernetes' own schema, in which kubectl finds the common fields of all documents.
const metaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// schemaName is the name of a kind's schema; Kubernetes' own kinds keep their names.
func schemaName(k hostapi.Kind) string {
	if k.Group == "" {
		return "io.k8s.api.core.v1." + k.Kind
	}
	return "io.metal3." + k.Version + "." + k.Kind
}

// kindSchema is the schema of a kind, in a document that has schemas at a place.
func kindSchema(k hostapi.Kind, at string) doc {
	s := hostapi.SchemaOf(k, at+metaName)
	s["x-kubernetes-group-version-kind"] = []doc{gvkOf(k)}
	return s
}

func gvkOf(k hostapi.Kind) doc { return doc{"group": k.Group, "version": k.Version, "kind": k.Kind} }

// prefixOf is where a group is.
func prefixOf(group string) string {
	if group == "" {
		return "api/" + hostapi.CoreVersion
	}
	return "apis/" + groupVersion(group)
}

func v3Document(group string, paths doc) doc {
	schemas := doc{}
	for _, k := range hostapi.Kinds() {
		if k.Group == group {
			schemas[schemaName(k)] = kindSchema(k, "#/components/schemas/")
		}
	}
	schemas[metaName] = hostapi.MetaSchema()
	return doc{"openapi": "3.0.0", "info": info(), "paths": paths, "components": doc{"schemas": schemas}}
}

// operation is one of a path.
type operation struct {
	method, action, id string
	writes             bool
}

// pathsOf adds the paths of a kind.
func pathsOf(k hostapi.Kind, paths doc, form func(hostapi.Kind, operation) doc) {
	base := "/" + prefixOf(k.Group)
	var places []doc
	if k.Namespaced {
		add(k, paths, base+"/"+k.Plural, nil, []operation{{"get", "list", "listForAllNamespaces", false}}, form)
		base += "/namespaces/{namespace}"
		places = append(places, pathParameter("namespace"))
	}
	add(k, paths, base+"/"+k.Plural, places, []operation{
		{"get", "list", "list", false}, {"post", "post", "create", true},
		{"delete", "deletecollection", "deleteCollection", true},
	}, form)
	places = append(places, pathParameter("name"))
	named := []operation{{"get", "get", "read", false}, {"put", "put", "replace", true}, {"patch", "patch", "patch", true}}
	add(k, paths, base+"/"+k.Plural+"/{name}", places, append(named, operation{"delete", "delete", "delete", true}), form)
	if k.Status {
		for i := range named {
			named[i].id += "Status"
		}
		add(k, paths, base+"/"+k.Plural+"/{name}/status", places, named, form)
	}
}

func add(k hostapi.Kind, paths doc, path string, places []doc, operations []operation,
	form func(hostapi.Kind, operation) doc) {
	item := doc{}
	for _, o := range operations {
		d := form(k, o)
		d["operationId"] = o.id + k.Kind
		d["x-kubernetes-action"] = o.action
		d["x-kubernetes-group-version-kind"] = gvkOf(k)
		parameters, _ := d["parameters"].([]doc)
		for _, p := range places {
			parameters = append(parameters, typed(p, d))
		}
		d["parameters"] = parameters
		item[o.method] = d
	}
	paths[path] = item
}

func pathParameter(name string) doc { return doc{"name": name, "in": "path", "required": true} }

// typed is a parameter that is a string, as the form of its operation says it.
func typed(p, of doc) doc {
	made := doc{}
	for k, v := range p {
		made[k] = v
	}
	if _, v2 := of["produces"]; v2 {
		made["type"] = "string"
	} else {
		made["schema"] = doc{"type": "string"}
	}
	return made
}

// queries are the parameters that show kubectl a server's abilities.
func queries(o operation, of doc) (all []doc) {
	names := []string{"dryRun", "fieldValidation"}
	switch {
	case !o.writes:
		names = nil
	case o.method == "delete":
		names = names[:1]
	}
	for _, name := range names {
		all = append(all, typed(doc{"name": name, "in": "query"}, of))
	}
	return all
}

func v2Operation(k hostapi.Kind, o operation) doc {
	schema := doc{"$ref": "#/definitions/" + schemaName(k)}
	d := doc{
		"produces":  []string{"application/json", "application/yaml"},
		"responses": doc{"200": doc{"description": "OK", "schema": schema}},
	}
	parameters := queries(o, d)
	switch o.method {
	case "post", "put":
		parameters = append(parameters, doc{"name": "body", "in": "body", "required": true, "schema": schema})
	case "patch":
		parameters = append(parameters, doc{"name": "body", "in": "body", "required": true, "schema": doc{"type": "object"}})
		d["consumes"] = patchForms(k)
	}
	d["parameters"] = parameters
	return d
}

func v3Operation(k hostapi.Kind, o operation) doc {
	content := doc{"application/json": doc{"schema": doc{"$ref": "#/components/schemas/" + schemaName(k)}}}
	d := doc{"responses": doc{"200": doc{"description": "OK", "content": content}}}
	d["parameters"] = queries(o, d)
	switch o.method {
	case "post", "put":
		d["requestBody"] = doc{"content": content, "required": true}
	case "patch":
		forms := doc{}
		for _, f := range patchForms(k) {
			forms[f] = doc{"schema": doc{"type": "object"}}
		}
		d["requestBody"] = doc{"content": forms, "required": true}
	}
	return d
}

func patchForms(k hostapi.Kind) []string {
	if k.Group == "" {
		return []string{jsonPatch, mergePatch, strategicPatch}
	}
	return []string{jsonPatch, mergePatch}
}
