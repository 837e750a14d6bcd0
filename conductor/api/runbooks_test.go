package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	books    = "/v1/runbooks"
	bookStep = `"steps":[{"interface":"bios","step":"factory_reset","order":1}]`
)

// TestRunbookRefusals follows the rules of newer Ironics: none was recorded.
func TestRunbookRefusals(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 92, "POST", books, `{"name":"CUSTOM_A","owner":"me",`+bookStep+`}`)
	post := func(minor int, body, text string) refusal {
		return refusal{minor, "POST", books, body, 400, "Schema error for runbook: " + text}
	}
	traits := func(method, path, body string, status int, text string) refusal {
		return refusal{112, method, books + path, body, status, text}
	}
	c.refuses(t, []refusal{
		{91, "GET", books, "", 404, "The API version does not allow runbooks"},
		{91, "POST", books, "", 405, "The API version does not allow runbooks"},
		{111, "GET", books + "/CUSTOM_A/traits", "", 404, "The API version does not allow runbook traits"},
		{111, "PUT", books + "/CUSTOM_A/traits/CUSTOM_B", "", 404, "The API version does not allow runbook traits"},
		{92, "POST", books, `{"name":"CUSTOM_A",` + bookStep + `}`, 409, "A runbook with name CUSTOM_A already exists."},
		{92, "GET", books + "/nobody", "", 404, "Runbook nobody could not be found."},
		{92, "PATCH", books, `[]`, 400, "Missing mandatory parameter: runbook_ident"},
		{92, "GET", books + "?sort_key=extra", "", 400, "invalid field for sorting"},
		{111, "GET", books + "?fields=traits", "", 406, "not acceptable"},
		post(92, `{`+bookStep+`}`, "'name' is a required property"),
		post(111, `{"name":"firmware",`+bookStep+`}`, "'firmware' is not valid under any of the given schemas"),
		post(112, `{"name":"a b",`+bookStep+`}`, "'a b' does not match"),
		post(112, `{"name":"33333333-3333-4333-8333-333333333333",`+bookStep+`}`,
			"'33333333-3333-4333-8333-333333333333' is a UUID"),
		post(112, `{"name":"33333333333343338333333333333333",`+bookStep+`}`, "'33333333333343338333333333333333' is a UUID"),
		post(112, `{"name":"CUSTOM_B","traits":["CUSTOM_B"],`+bookStep+`}`,
			"Additional properties are not allowed ('traits' was unexpected)"),
		post(92, `{"name":"CUSTOM_B","public":"yes",`+bookStep+`}`, "'yes' is not of type 'boolean', 'null'"),
		post(92, `{"name":"CUSTOM_B","disable_ramdisk":1,`+bookStep+`}`, "1 is not of type 'boolean', 'null'"),
		post(92, `{"name":"CUSTOM_B","owner":7,`+bookStep+`}`, "7 is not of type 'string', 'null'"),
		post(92, `{"name":"CUSTOM_B","steps":[]}`, "[] is too short"),
		post(92, `{"name":"CUSTOM_B","steps":[{"interface":"bios","step":"factory_reset"}]}`, "'order' is a required property"),
		post(92, `{"name":"CUSTOM_B","steps":[{"interface":"bios","step":"factory_reset","order":1,"priority":1}]}`,
			"Additional properties are not allowed ('priority' was unexpected)"),
		post(92, `{"name":"CUSTOM_B","steps":[{"interface":"network","step":"apply","order":1}]}`, "'network' is not one of"),
		{92, "POST", books,
			`{"name":"CUSTOM_B","steps":[{"interface":"bios","step":"a","order":1},{"interface":"bios","step":"a","order":2}]}`,
			400, "Duplicate steps"},
		{92, "POST", books, `{"name":"CUSTOM_B","owner":"me","public":true,` + bookStep + `}`, 400,
			"There cannot be an owner for a public runbook"},
		{92, "PATCH", books + "/CUSTOM_A",
			`[{"op":"add","path":"/public","value":true},{"op":"add","path":"/owner","value":"you"}]`, 400,
			"There cannot be an owner for a public runbook"},
		{111, "PATCH", books + "/CUSTOM_A", `[{"op":"add","path":"/description","value":"x"}]`, 406, "not acceptable"},
		{112, "PATCH", books + "/CUSTOM_A", `[{"op":"add","path":"/traits/0","value":"CUSTOM_B"}]`, 400,
			"Cannot patch /traits/0"},
		traits("GET", "/nobody/traits", "", 404, "Runbook nobody could not be found."),
		traits("PUT", "/CUSTOM_A/traits/bad", "", 400, "Schema error for trait: 'bad' is not valid"),
		traits("PUT", "/nobody/traits/CUSTOM_B", "", 404, "Runbook nobody could not be found."),
		traits("PUT", "/CUSTOM_A/traits", `{"traits":["CUSTOM_B",1]}`, 400,
			"Schema error for body: 1 is not of type 'string'"),
		traits("PUT", "/CUSTOM_A/traits", "", 400,
			"A single runbook trait may be added via PUT /v1/runbooks/<runbook identifier>/traits/<trait>"),
		traits("PUT", "/a%20b/traits/CUSTOM_B", "", 400, "Expected UUID or name for runbook_ident: a b"),
		traits("DELETE", "/nobody/traits", "", 404, "Runbook nobody could not be found."),
		traits("GET", "/CUSTOM_A/traits/CUSTOM_B", "", 405, ""),
	})
	if got := c.names(t, 92, "runbooks", "limit=1"); !slices.Equal(got, []string{"CUSTOM_A"}) {
		t.Errorf("after all refusals there are %v", got)
	}
	if r := c.do(112, "PUT", books+"/nobody/traits/CUSTOM_B", ""); r.header.Get("Location") != "" {
		t.Errorf("a trait that was not added has the location %q", r.header.Get("Location"))
	}
}

// TestRunbookFields: each field is shown from its microversion on.
func TestRunbookFields(t *testing.T) {
	c := newConductor(t)
	const id = "44444444-4444-4444-8444-444444444444"
	c.must(http.StatusCreated, 115, "POST", books,
		`{"uuid":"`+id+`","name":"fw-1.2","description":"words","disable_ramdisk":true,"owner":"me","extra":{"k":1},
		"steps":[{"interface":"bios","step":"factory_reset","order":"2"},{"interface":"raid","step":"apply","args":{"secret_password":"pa55"},"order":1}]}`)
	want := map[string]any{
		"uuid": id, "name": "fw-1.2", "extra": map[string]any{"k": 1.0}, "public": false, "owner": "me",
		"disable_ramdisk": true, "updated_at": nil,
		"steps": []any{
			map[string]any{"interface": "bios", "step": "factory_reset", "args": map[string]any{}, "order": 2.0},
			map[string]any{"interface": "raid", "step": "apply", "args": map[string]any{"secret_password": "******"},
				"order": 1.0},
		},
	}
	check := func(minor int) {
		t.Helper()
		got := c.must(http.StatusOK, minor, "GET", books+"/fw-1.2", "").doc(t)
		if got["created_at"] == nil || got["links"] == nil {
			t.Errorf("at 1.%d: %v", minor, got)
		}
		delete(got, "created_at")
		delete(got, "links")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at 1.%d, -want +got:\n%s", minor, diff)
		}
	}
	check(92)
	check(111)
	want["description"], want["traits"] = "words", []any{}
	check(112)
	brief := c.must(http.StatusOK, 115, "GET", books, "").doc(t)["runbooks"].([]any)[0].(map[string]any)
	if _, links := brief["links"]; len(brief) != 3 || !links || brief["uuid"] != id || brief["name"] != "fw-1.2" {
		t.Errorf("a list shows %v", brief)
	}
}

// TestRunbookEdits: older clients change runbooks of newer ones. A published runbook loses its owner.
func TestRunbookEdits(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 112, "POST", books, `{"name":"fw","owner":"me",`+bookStep+`}`)
	c.must(http.StatusOK, 92, "PATCH", books+"/fw",
		`[{"op":"replace","path":"/steps/0/order","value":5},{"op":"add","path":"/disable_ramdisk","value":true}]`)
	doc := c.must(http.StatusOK, 92, "PATCH", books+"/fw", `[{"op":"add","path":"/public","value":true}]`).doc(t)
	if doc["public"] != true || doc["owner"] != nil || doc["updated_at"] == nil {
		t.Errorf("published: %v", doc)
	}
	c.must(http.StatusBadRequest, 92, "PATCH", books+"/fw", `[{"op":"add","path":"/owner","value":"me"}]`)
	doc = c.must(http.StatusOK, 92, "PATCH", books+"/fw",
		`[{"op":"add","path":"/owner","value":"me"},{"op":"replace","path":"/public","value":false}]`).doc(t)
	if doc["public"] != false || doc["owner"] != "me" {
		t.Errorf("taken back: %v", doc)
	}
	c.must(http.StatusNoContent, 92, "DELETE", books+"/fw", "")
	c.must(http.StatusNotFound, 92, "DELETE", books+"/fw", "")
}

func TestRunbookTraits(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 112, "POST", books, `{"name":"fw",`+bookStep+`}`)
	for _, step := range []struct {
		method, path, body string
		want               []any
	}{
		{"PUT", "/CUSTOM_B", "", []any{"CUSTOM_B"}},
		{"PUT", "/CUSTOM_B", "", []any{"CUSTOM_B"}},
		{"PUT", "/CUSTOM_A", "", []any{"CUSTOM_A", "CUSTOM_B"}},
		{"DELETE", "/CUSTOM_B", "", []any{"CUSTOM_A"}},
		{"DELETE", "/CUSTOM_B", "", []any{"CUSTOM_A"}}, // no 404, unlike a node's
		{"PUT", "", `{"traits":["HW_X","CUSTOM_C","HW_X"]}`, []any{"CUSTOM_C", "HW_X"}},
		{"PUT", "", `{"traits":[]}`, []any{}},
		{"PUT", "/CUSTOM_D", "", []any{"CUSTOM_D"}},
		{"DELETE", "", "", []any{}},
	} {
		r := c.must(http.StatusNoContent, 112, step.method, books+"/fw/traits"+step.path, step.body)
		if want := c.URL + books + "/fw/traits" + step.path; step.method == "PUT" && step.path != "" &&
			r.header.Get("Location") != want {
			t.Errorf("Location is %q, want %q", r.header.Get("Location"), want)
		}
		got := c.must(http.StatusOK, 112, "GET", books+"/fw/traits", "").doc(t)
		if diff := cmp.Diff(map[string]any{"traits": step.want}, got); diff != "" {
			t.Errorf("after %s %s %s (-want +got):\n%s", step.method, step.path, step.body, diff)
		}
		shown := c.must(http.StatusOK, 112, "GET", books+"/fw?fields=traits", "").doc(t)["traits"]
		if diff := cmp.Diff(any(step.want), shown); diff != "" {
			t.Errorf("the runbook after %s %s (-want +got):\n%s", step.method, step.path, diff)
		}
	}
}
