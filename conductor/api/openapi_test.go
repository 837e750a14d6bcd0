package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// document is the server's own OpenAPI document, with its schemas.
type document struct {
	*conductor
	t        *testing.T
	root     map[string]any
	compiler *jsonschema.Compiler
}

// readDocument asks a conductor for it.
func readDocument(t *testing.T, c *conductor) *document {
	t.Helper()
	body := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/openapi.json", "").body
	root, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	d := &document{conductor: c, t: t, root: root.(map[string]any), compiler: jsonschema.NewCompiler()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource("mem:///openapi.json", root); err != nil {
		t.Fatal(err)
	}
	return d
}

// at finds a place in the document; nil when there is none.
func (d *document) at(path ...string) any {
	var v any = d.root
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// check validates a body against the schema at a place in the document, and
// reports whether there is one.
func (d *document) check(what, body string, path ...string) bool {
	d.t.Helper()
	if d.at(path...) == nil {
		return false
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	pointer := "mem:///openapi.json#"
	for _, key := range path {
		pointer += "/" + escape.Replace(key)
	}
	s, err := d.compiler.Compile(pointer)
	if err != nil {
		d.t.Errorf("%s: the schema %s: %v", what, pointer, err)
		return true
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(body)))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		d.t.Errorf("%s: %v\n%.500s", what, err, body)
	}
	return true
}

// content is the way to the schema of a route's answer.
func content(path, method, status string) []string {
	return []string{"paths", path, method, "responses", status, "content", "application/json", "schema"}
}

// fill gives a conductor something of everything, by requests that are checked
// against the document, as are the answers.
func (d *document) fill() {
	const minor = 115
	for _, r := range []struct{ method, path, of, body string }{
		{"POST", "/v1/nodes", "", `{"driver":"fake-hardware","name":"n1","uuid":"` + fuzzNode +
			`","shard":"s","extra":{"a":1},"automated_clean":true}`},
		{"PATCH", "/v1/nodes/n1", "/v1/nodes/{node}", `[{"op":"add","path":"/description","value":"words"}]`},
		{"PUT", "/v1/nodes/n1/traits", "/v1/nodes/{node}/traits", `{"traits":["CUSTOM_A"]}`},
		{"PUT", "/v1/nodes/n1/maintenance", "/v1/nodes/{node}/maintenance", `{"reason":"x"}`},
		{"DELETE", "/v1/nodes/n1/maintenance", "/v1/nodes/{node}/maintenance", ""},
		{"PUT", "/v1/nodes/n1/states/provision", "/v1/nodes/{node}/states/provision", `{"target":"manage"}`},
		{"POST", "/v1/ports", "", `{"address":"52:54:00:00:00:01","node_uuid":"` + fuzzNode + `"}`},
		{"POST", "/v1/deploy_templates", "", `{"name":"CUSTOM_A",` + oneStep + `}`},
		{"PATCH", "/v1/deploy_templates/CUSTOM_A", "/v1/deploy_templates/{ident}",
			`[{"op":"add","path":"/extra/a","value":1}]`},
		{"POST", "/v1/runbooks", "", `{"name":"book",` + bookStep + `}`},
		{"PUT", "/v1/runbooks/book/traits/CUSTOM_B", "/v1/runbooks/{ident}/traits/{trait}", ""},
		{"POST", "/v1/inspection_rules", "", `{"uuid":"` + ruleID + `","conditions":[{"op":"eq","args":[[1]],"loop":[1]}],` +
			oneAction + `}`},
		{"POST", "/v1/inspection_rules", "", `{"sensitive":true,` + oneAction + `}`},
		{"PATCH", "/v1/inspection_rules/" + ruleID, "/v1/inspection_rules/{ident}", `[]`},
		{"POST", "/v1/events", "", `{"events":[{"event":"network.bind_port","port_id":"` + fuzzNode +
			`","mac_address":"52:54:00:00:00:01","status":"x"}]}`},
		{"POST", "/v1/chassis", "", `{"uuid":"` + fuzzNode + `"}`},
		{"POST", "/v1/portgroups", "", `{"name":"bond","node_uuid":"` + fuzzNode + `"}`},
		{"POST", "/v1/volume/connectors", "", `{"node_uuid":"` + fuzzNode + `","type":"iqn","connector_id":"iqn.x"}`},
		{"POST", "/v1/volume/targets", "",
			`{"node_uuid":"` + fuzzNode + `","volume_type":"iscsi","boot_index":0,"volume_id":"v"}`},
		{"POST", "/v1/allocations", "", `{"resource_class":"none"}`},
		{"PUT", "/ferrite/v1/leases/52:54:00:00:00:01", "/ferrite/v1/leases/{mac}", `{"ip":"10.0.0.7"}`},
	} {
		of, method, what := r.of, strings.ToLower(r.method), r.method+" "+r.path
		if of == "" {
			of = r.path
		}
		d.check("request of "+what, r.body, "paths", of, method, "requestBody", "content", "application/json", "schema")
		got := d.do(minor, r.method, r.path, r.body)
		status := fmt.Sprint(got.status)
		if described := d.at("paths", of, method, "responses", status); described == nil &&
			(got.status >= 300 || d.at("paths", of, method, "responses", "2XX") == nil) {
			d.t.Errorf("%s is answered with %s, which is not described: %s", what, status, got.body)
		}
		d.check("answer of "+what, got.body, content(of, method, status)...)
		if strings.HasSuffix(r.path, "/provision") {
			d.settle("n1")
		}
	}
	d.Erased(d.t, "n1", true)
	if _, err := d.Engine.Inspected(d.t.Context(), "n1"); err == nil {
		d.t.Error("a node on fake hardware has an inventory")
	}
}

// TestDocumentIsTrue: the answer to every GET has the form in the document, in old microversions and new ones.
func TestDocumentIsTrue(t *testing.T) {
	d := readDocument(t, newConductor(t))
	d.fill()
	first := func(list, key string) string { // of a list, to fill in a path
		doc := d.must(http.StatusOK, 115, "GET", list, "").doc(t)
		for _, v := range doc {
			if items, ok := v.([]any); ok && len(items) > 0 {
				s, _ := items[0].(map[string]any)[key].(string)
				return s
			}
		}
		return ""
	}
	checked := map[string]bool{}
	for path := range d.root["paths"].(map[string]any) {
		if d.at("paths", path, "get") == nil || d.at("paths", path, "get", "responses", "200") == nil {
			continue
		}
		parent, _, _ := strings.Cut(path, "/{")
		filled := strings.NewReplacer("{node}", "n1", "{driver}", "fake-hardware", "{host}", "conductor-1", "{entry}",
			first("/v1/nodes/n1/history", "uuid"), "{port}", first("/v1/ports", "uuid"), "{report}",
			first("/ferrite/v1/nodes/n1/erase-reports", "uuid")).Replace(path)
		if parent != path && strings.Contains(path, "{ident}") {
			if one := first(parent, "uuid"); one != "" {
				filled = strings.ReplaceAll(filled, "{ident}", one)
			}
		}
		if strings.Contains(filled, "{") {
			continue // there is nothing of the kind to ask for
		}
		if strings.HasSuffix(path, "/nodes/validate") {
			filled += "?node=n1"
		}
		for _, minor := range []int{1, 82, 115} {
			for _, query := range []string{"", "detail=true", "limit=1"} {
				url := filled
				if query != "" {
					url += map[bool]string{true: "&", false: "?"}[strings.Contains(url, "?")] + query
				}
				r := d.do(minor, "GET", url, "")
				what := fmt.Sprintf("GET %s at 1.%d", url, minor)
				switch {
				case r.status == http.StatusOK && d.check(what, r.body, content(path, "get", "200")...):
					checked[path] = true
				case r.status >= http.StatusBadRequest:
					d.check(what, r.body, "components", "schemas", "fault")
				}
			}
		}
	}
	for _, path := range []string{
		"/", "/v1/nodes", "/v1/nodes/detail", "/v1/nodes/{node}", "/v1/nodes/{node}/states", "/v1/nodes/{node}/traits",
		"/v1/nodes/{node}/validate",
		"/v1/nodes/{node}/history", "/v1/nodes/{node}/history/{entry}", "/v1/nodes/{node}/management/boot_device",
		"/v1/nodes/{node}/management/boot_device/supported",
		"/v1/deploy_templates", "/v1/deploy_templates/{ident}", "/v1/runbooks", "/v1/runbooks/{ident}",
		"/v1/runbooks/{ident}/traits",
		"/v1/ports", "/v1/ports/{port}", "/v1/chassis", "/v1/chassis/{ident}", "/v1/portgroups", "/v1/portgroups/{ident}",
		"/v1/allocations", "/v1/allocations/{ident}",
		"/v1/volume/connectors", "/v1/volume/connectors/{ident}", "/v1/volume/targets", "/v1/volume/targets/{ident}",
		"/v1/inspection_rules", "/v1/inspection_rules/{ident}", "/v1/shards", "/v1/conductors", "/v1/conductors/{host}",
		"/v1", "/v1/nodes/{node}/ports", "/v1/nodes/{node}/portgroups", "/v1/nodes/{node}/volume",
		"/v1/nodes/{node}/volume/targets", "/v1/nodes/{node}/children", "/v1/nodes/{node}/bios", "/v1/nodes/{node}/firmware",
		"/v1/nodes/{node}/vifs",
		"/v1/nodes/{node}/vmedia", "/v1/nodes/{node}/states/console", "/v1/nodes/{node}/management/indicators",
		"/v1/nodes/{node}/vendor_passthru/methods", "/v1/portgroups/{ident}/ports", "/v1/chassis/{ident}/nodes", "/v1/volume",
		"/v1/drivers/{driver}/raid/logical_disk_properties",
		"/v1/drivers", "/v1/drivers/{driver}", "/v1/drivers/{driver}/properties", "/ferrite/v1/nodes/{node}/status",
		"/ferrite/v1/leases", "/ferrite/v1/openapi.json",
		"/ferrite/v1/nodes/{node}/erase-reports", "/ferrite/v1/erase-reports", "/ferrite/v1/erase-reports/{report}",
		"/ferrite/v1/erase-key",
	} {
		if !checked[path] {
			t.Errorf("no answer of GET %s was checked", path)
		}
	}
}

// TestDocumentDescribes: the document has the request and the answer of every operation that is not refused.
func TestDocumentDescribes(t *testing.T) {
	d := readDocument(t, newConductor(t))
	for path, item := range d.root["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			o, _ := operation.(map[string]any)
			if responses, _ := o["responses"].(map[string]any); len(responses) < 2 ||
				strings.Contains(path, "/vendor_passthru") {
				continue // refused, or a parameter; each vendor has methods of his own
			}
			if summary := o["summary"].(string); len(strings.Fields(summary)) < 2 {
				t.Errorf("%s %s is described by %q", method, path, summary)
			}
			if method == "get" && d.at("paths", path, method, "responses", "200", "content") == nil &&
				d.at("paths", path, method, "responses", "101", "content") == nil ||
				d.at("paths", path, method, "responses", "2XX") != nil {
				t.Errorf("what %s %s answers is not said", method, path)
			}
			bare := method == "get" || method == "delete" || strings.HasSuffix(path, "/traits/{trait}") ||
				path == nodeapi.SessionPath // a login is in a header
			if !bare && o["requestBody"] == nil {
				t.Errorf("what %s %s takes is not said", method, path)
			}
		}
	}
}

// TestDocumentForce: the document names X-Ferrite-Force for the operations that read it, and for no others: a value
// that it does not know is refused where it is read.
func TestDocumentForce(t *testing.T) {
	c := newConductor(t)
	d := readDocument(t, c)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	paths, _ := d.at("paths").(map[string]any)
	var named []string
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		for method := range operations {
			if method == "parameters" {
				continue
			}
			operation := fmt.Sprint(d.at("paths", path, method, "parameters"))
			has := strings.Contains(operation, nodeapi.HeaderForce)
			if has {
				named = append(named, method+" "+path)
			}
			url := c.URL + strings.NewReplacer("{node}", "n1", "{", "", "}", "").Replace(path)
			r, err := http.NewRequestWithContext(t.Context(), strings.ToUpper(method), url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(115))
			r.Header.Set(nodeapi.HeaderForce, "perhaps")
			if read := strings.Contains(c.send(r).body, "Header "+nodeapi.HeaderForce); read != has {
				t.Errorf("%s %s: the header is read: %v, the document has it: %v", method, path, read, has)
			}
		}
	}
	slices.Sort(named)
	want := []string{"delete /v1/nodes/{node}", "patch /v1/nodes/{node}", "post /ferrite/v1/import",
		"post /v1/nodes", "put /v1/nodes/{node}/states/provision"}
	if !slices.Equal(named, want) {
		t.Errorf("the document names it for %v, want %v", named, want)
	}
}

// TestDocumentRefuses: a schema that takes anything would prove nothing.
func TestDocumentRefuses(t *testing.T) {
	d := readDocument(t, newConductor(t))
	for schema, bodies := range map[string][]string{
		"node":                   {`{"uuid":1}`, `{"more":1}`, `[]`, `{"maintenance":"yes"}`},
		"node_create":            {`{}`, `{"driver":"x","provision_state":"active"}`},
		"patch":                  {`{}`, `[{"op":"move","path":"/a"}]`, `[{"op":"add"}]`},
		"inspection_rule":        {`{"priority":"1"}`, `{"conditions":[{"op":"eq"}]}`},
		"inspection_rule_create": {`{}`, `{"actions":[1]}`},
		"fault":                  {`{}`, `{"error_message":{}}`},
	} {
		s, err := d.compiler.Compile("mem:///openapi.json#/components/schemas/" + schema)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range bodies {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			if err != nil || s.Validate(v) == nil {
				t.Errorf("the schema %s takes %s (%v)", schema, body, err)
			}
		}
	}
}

// TestDocumentIsWhole checks rules of OpenAPI 3.1: references resolve, operations have unique names and answers, every
// parameter of a path is described, and schemas are valid.
func TestDocumentIsWhole(t *testing.T) {
	d := readDocument(t, newConductor(t))
	if d.root["openapi"] != "3.1.0" || d.at("info", "title") == nil || d.at("info", "version") != "1.115" {
		t.Errorf("the head: %v %v", d.root["openapi"], d.root["info"])
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if path := strings.Split(strings.TrimPrefix(ref, "#/"), "/"); d.at(path...) == nil {
					t.Errorf("%s refers to %s, which is not there", at, ref)
				}
			}
			for key, item := range v {
				walk(at+"/"+key, item)
			}
		case []any:
			for _, item := range v {
				walk(at, item)
			}
		}
	}
	walk("", d.root)
	for name := range d.at("components", "schemas").(map[string]any) {
		if _, err := d.compiler.Compile("mem:///openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
	ids := map[string]string{}
	for path, item := range d.root["paths"].(map[string]any) {
		var described []string
		parameters, _ := item.(map[string]any)["parameters"].([]any)
		for _, p := range parameters {
			described = append(described, "{"+p.(map[string]any)["name"].(string)+"}")
		}
		for part := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(part, "{") && !slices.Contains(described, part) {
				t.Errorf("%s: the parameter %s is not described", path, part)
			}
		}
		for method, operation := range item.(map[string]any) {
			if method == "parameters" {
				continue
			}
			o := operation.(map[string]any)
			id, _ := o["operationId"].(string)
			if other, twice := ids[id]; id == "" || twice || o["summary"] == "" ||
				d.at("paths", path, method, "responses", "default") == nil {
				t.Errorf("%s %s: operation %q (also of %q), %v", method, path, id, other, o["summary"])
			}
			ids[id] = method + " " + path
		}
	}
	if d.at("components", "schemas", "node", "properties", "shard").(map[string]any)["x-since"] != "1.82" ||
		d.at("paths", "/v1/inspection_rules", "get").(map[string]any)["x-since"] != "1.96" {
		t.Error("microversions are not told of")
	}
}
