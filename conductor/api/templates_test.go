package api_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	templates = "/v1/deploy_templates"
	oneStep   = `"steps":[{"interface":"deploy","step":"deploy","args":{},"priority":10}]`
)

// refusal is a request that is refused, and how.
type refusal struct {
	minor              int
	method, path, body string
	status             int
	text               string
}

func (c *conductor) refuses(t *testing.T, all []refusal) {
	t.Helper()
	for _, r := range all {
		if got := c.do(r.minor, r.method, r.path, r.body); got.status != r.status || !strings.Contains(got.text(), r.text) {
			t.Errorf("%s %s %s at 1.%d: %d %q, want %d %q", r.method, r.path, r.body, r.minor, got.status, got.text(),
				r.status, r.text)
		}
	}
}

// names walks a list page by page.
func (c *conductor) names(t *testing.T, minor int, kind, query string) []string {
	t.Helper()
	names := []string{}
	for next := "/v1/" + kind + "?" + query; next != ""; {
		doc := c.must(http.StatusOK, minor, "GET", next, "").doc(t)
		for _, of := range doc[kind].([]any) {
			names = append(names, of.(map[string]any)["name"].(string))
		}
		url, _ := doc["next"].(string)
		next = strings.TrimPrefix(url, c.URL)
	}
	return names
}

// TestDeployTemplateRefusals compares refusals, word by word, with recorded answers of Ironic 21.4, and with its other
// rules.
func TestDeployTemplateRefusals(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 82, "POST", templates, `{"name":"CUSTOM_GOLD",`+oneStep+`}`)
	post := func(body, text string) refusal { return refusal{82, "POST", templates, body, 400, text} }
	step := func(fields, text string) refusal {
		return post(`{"name":"CUSTOM_X","steps":[{`+fields+`}]}`, "Schema error for template: "+text)
	}
	patch := func(ops, text string) refusal {
		return refusal{82, "PATCH", templates + "/CUSTOM_GOLD", ops, 400, text}
	}
	c.refuses(t, []refusal{
		{82, "POST", templates, `{"name":"CUSTOM_GOLD",` + oneStep + `}`, 409,
			"A deploy template with name CUSTOM_GOLD already exists."},
		post(`{"name":"CUSTOM_X","steps":[]}`, "Schema error for template: [] is too short"),
		step(`"interface":"zz","step":"a","args":{},"priority":1`,
			"'zz' is not one of ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid']"),
		patch(`[{"op":"replace","path":"/name","value":"bad"}]`,
			"Schema error for patch: 'bad' is not valid under any of the given schemas. Possible root cause: 'bad' does not "+
				"match '^CUSTOM_[A-Z0-9_]+$'"),
		{82, "DELETE", templates + "/CUSTOM_X", "", 404, "Deploy template CUSTOM_X could not be found."},
		{54, "GET", templates, "", 404, "The API version does not allow deploy templates"},
		{54, "POST", templates, "", 405, "The API version does not allow deploy templates"},
		{54, "DELETE", templates + "/CUSTOM_GOLD", "", 405, "The API version does not allow deploy templates"},

		post(`{`+oneStep+`}`, "Schema error for template: 'name' is a required property"),
		post(`{"name":"CUSTOM_X"}`, "Schema error for template: 'steps' is a required property"),
		post(`{"name":null,`+oneStep+`}`, "None is not of type 'string'"),
		post(`{"name":"",`+oneStep+`}`, "'' is too short"),
		post(`{"name":"CUSTOM_`+strings.Repeat("X", 249)+`",`+oneStep+`}`, "is too long"),
		post(`{"name":"CUSTOM_X","uuid":"x",`+oneStep+`}`, "Expected UUID for uuid: x"),
		post(`{"name":"CUSTOM_X","extra":[],`+oneStep+`}`, "[] is not of type 'object', 'null'"),
		post(`{"name":"CUSTOM_X","owner":"me",`+oneStep+`}`,
			"Additional properties are not allowed ('owner' was unexpected)"),
		post(`{"name":"CUSTOM_X","steps":{}}`, "{} is not of type 'array'"),
		post(`{"name":"CUSTOM_X","steps":[1]}`, "1 is not of type 'object'"),
		post(`[]`, "[] is not of type 'object'"),
		step(`"interface":"bios","step":"a","priority":1`, "'args' is a required property"),
		step(`"interface":"bios","step":"a","args":{}`, "'priority' is a required property"),
		step(`"interface":"bios","step":"","args":{},"priority":1`, "'' is too short"),
		step(`"interface":"bios","step":1,"args":{},"priority":1`, "1 is not of type 'string'"),
		step(`"interface":"bios","step":"a","args":null,"priority":1`, "None is not of type 'object'"),
		step(`"interface":"bios","step":"a","args":{},"priority":-1`, "-1 is not valid under any of the given schemas"),
		step(`"interface":"bios","step":"a","args":{},"priority":1.5`, "1.5 is not valid under any of the given schemas"),
		step(`"interface":"bios","step":"a","args":{},"priority":"1x"`, "'1x' is not valid under any of the given schemas"),
		step(`"interface":"bios","step":"a","args":{},"priority":1e10`,
			"10000000000 is not valid under any of the given schemas"),
		step(`"interface":"bios","step":"a","args":{},"priority":1,"order":1`,
			"Additional properties are not allowed ('order' was unexpected)"),
		post(
			`{"name":"CUSTOM_X","steps":[{"interface":"bios","step":"a","args":{},"priority":1},{"interface":"bios","step":"a","args":{},"priority":2}]}`,
			"Deploy template invalid: Duplicate deploy steps. A template cannot have multiple deploy steps with the same "+
				"interface and step. Duplicates: interface: bios, step: a."),

		patch(`[{"op":"remove","path":"/name"}]`, "None is not of type 'string'"),
		patch(`[{"op":"remove","path":"/steps/0"}]`, "[] is too short"),
		patch(`[{"op":"remove","path":"/steps/0/args"}]`, "'args' is a required property"),
		patch(`[{"op":"replace","path":"/uuid","value":"x"}]`,
			"Cannot patch /uuid. Only the following can be updated: extra, name, steps"),
		patch(`[{"op":"add","path":"/steps/1","value":{"interface":"deploy","step":"deploy","args":{},"priority":0}}]`,
			"Duplicate deploy steps"),
		{82, "PATCH", templates + "/nobody", `[]`, 404, "Deploy template nobody could not be found."},
		{82, "GET", templates + "/a%20b", "", 400, "Expected UUID or name for template_ident: a b"},
		{82, "PATCH", templates, `[]`, 400, "Missing mandatory parameter: template_ident"},
		{82, "GET", templates + "?sort_key=steps", "", 400, "invalid field for sorting"},
		{82, "GET", templates + "?fields=name,owner", "", 400, `"owner"`},
		{82, "GET", templates + "?detail=True&fields=name", "", 400, "detail"},
		{82, "GET", templates + "?colour=red", "", 400, "Unexpected arguments: colour"},
		{82, "GET", templates + "?marker=11111111-1111-4111-8111-111111111111", "", 404,
			"Deploy template 11111111-1111-4111-8111-111111111111 could not be found."},
		{82, "GET", templates + "/CUSTOM_GOLD?colour=red", "", 400, "Unexpected arguments: colour"},
	})
	if got := c.names(t, 82, "deploy_templates", ""); !slices.Equal(got, []string{"CUSTOM_GOLD"}) {
		t.Errorf("after all refusals there are %v", got)
	}
}

// TestDeployTemplateEdits: by UUID and name, in whole and in parts, secrets kept.
func TestDeployTemplateEdits(t *testing.T) {
	c := newConductor(t)
	const id = "33333333-3333-4333-8333-333333333333"
	r := c.must(http.StatusCreated, 82, "POST", templates, `{"uuid":"`+id+`","name":"CUSTOM_A","extra":{"k":"v"},"steps":[
		{"interface":"deploy","step":"set","args":{"user":"u","password":"pa55"},"priority":"20"},{"interface":"raid","step":"set","args":{},"priority":0}]}`)
	if got := r.header.Get("Location"); got != c.URL+templates+"/"+id {
		t.Errorf("Location is %q", got)
	}
	c.must(http.StatusOK, 82, "PATCH", templates+"/CUSTOM_A.json",
		`[{"op":"replace","path":"/steps/0/args/user","value":"w"},{"op":"remove","path":"/steps/1"},
		{"op":"add","path":"/extra/more","value":[1]},{"op":"replace","path":"/name","value":"HW_B"}]`)
	got := c.must(http.StatusOK, 115, "GET", "/deploy_templates/HW_B?fields=uuid,name,extra,steps", "").doc(t)
	want := map[string]any{
		"uuid": id, "name": "HW_B", "extra": map[string]any{"k": "v", "more": []any{1.0}},
		"steps": []any{
			map[string]any{"interface": "deploy", "step": "set", "args": map[string]any{"user": "w", "password": "******"},
				"priority": 20.0},
		},
	}
	delete(got, "links")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	kept, err := c.Engine.Catalogs().DeployTemplates.Find(t.Context(), id)
	if err != nil || kept.Steps[0].Args["password"] != "pa55" {
		t.Errorf("the secret was lost: %v %v", kept.Steps, err)
	}
	c.must(http.StatusNotFound, 91, "GET", templates+"/HW_B.json", "")
	c.must(http.StatusNoContent, 82, "DELETE", templates+"/"+strings.ToUpper(id), "")
	c.must(http.StatusNotFound, 82, "GET", templates+"/HW_B", "")
}

// TestDeployTemplatePages: sorted, in pages, in both directions.
func TestDeployTemplatePages(t *testing.T) {
	c := newConductor(t)
	for _, n := range []int{3, 1, 4, 2, 0} {
		c.must(http.StatusCreated, 82, "POST", templates, `{"name":"CUSTOM_`+strconv.Itoa(n)+`",`+oneStep+`}`)
	}
	created := []string{"CUSTOM_3", "CUSTOM_1", "CUSTOM_4", "CUSTOM_2", "CUSTOM_0"}
	reversed := slices.Clone(created)
	slices.Reverse(reversed)
	for query, want := range map[string][]string{
		"":                      created,
		"limit=2":               created,
		"limit=5&detail=True":   created,
		"limit=1&sort_dir=desc": reversed,
		"limit=2&sort_key=name": {"CUSTOM_0", "CUSTOM_1", "CUSTOM_2", "CUSTOM_3", "CUSTOM_4"},
		"limit=3&sort_key=name&sort_dir=desc&fields=name,uuid": {"CUSTOM_4", "CUSTOM_3", "CUSTOM_2", "CUSTOM_1", "CUSTOM_0"},
	} {
		if got := c.names(t, 82, "deploy_templates", query); !slices.Equal(got, want) {
			t.Errorf("?%s: %v, want %v", query, got, want)
		}
	}
}

// TestStoredSteps: a template or runbook is stored with any steps, as in Ironic. validate names the step that a
// node cannot do, and a verb with that step is refused.
func TestStoredSteps(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", templates, `{"name":"CUSTOM_GOLD","steps":[{"interface":"bios",
		"step":"apply_configuration","args":{},"priority":50}]}`)
	c.must(http.StatusCreated, 115, "POST", books, `{"name":"CUSTOM_GOLD","steps":[{"interface":"bios",
		"step":"aply_configuration","args":{"settings":[]},"order":1}]}`)
	c.must(http.StatusNoContent, 115, "PUT", books+"/CUSTOM_GOLD/traits/CUSTOM_GOLD", "")
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	c.must(http.StatusNoContent, 115, "PUT", "/v1/nodes/n1/traits", `{"traits":["CUSTOM_GOLD"]}`)
	c.provision("n1", "manage")
	c.refuses(t, []refusal{{115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"clean","runbook":"CUSTOM_GOLD"}`, 400,
		"(did you mean bios.apply_configuration?)"}})
	c.provision("n1", "provide")
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"add","path":"/instance_info/traits","value":["CUSTOM_GOLD"]}]`)
	const reason = "step bios.apply_configuration of deploy template CUSTOM_GOLD needs the argument settings"
	deploy, _ := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").doc(t)["deploy"].(map[string]any)
	if said, _ := deploy["reason"].(string); deploy["result"] != false || !strings.Contains(said, reason) {
		t.Errorf("validate says %v, want %q", deploy, reason)
	}
	c.refuses(t, []refusal{{115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"active"}`, 400, reason}})
	c.must(http.StatusOK, 115, "PATCH", templates+"/CUSTOM_GOLD",
		`[{"op":"replace","path":"/steps/0/args","value":{"settings":[]}}]`)
	deploy, _ = c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").doc(t)["deploy"].(map[string]any)
	if deploy["result"] != true {
		t.Errorf("with the argument, validate says %v", deploy)
	}
}
