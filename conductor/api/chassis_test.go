package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

const rack = "eeeeeeee-0000-4000-8000-000000000001"

// TestChassis: nodes are in a chassis that exists, which stays as long as they
// are.
func TestChassis(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusCreated, 1, "POST", "/v1/chassis", `{"uuid":"`+rack+`","description":"left","extra":{"a":1}}`)
	if got := r.header.Get("Location"); got != c.URL+"/v1/chassis/"+rack {
		t.Errorf("Location %q", got)
	}
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"a","chassis_uuid":"`+rack+`"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"b"}`)
	for path, want := range map[string][]string{
		"/v1/chassis/" + rack + "/nodes":                  {"a"},
		"/v1/chassis/" + rack + "/nodes/detail":           {"a"},
		"/v1/chassis/" + rack + "/nodes?maintenance=true": {},
		"/v1/nodes?chassis_uuid=" + rack:                  {"a"},
	} {
		got := []string{}
		for _, n := range c.must(http.StatusOK, 115, "GET", path, "").doc(t)["nodes"].([]any) {
			got = append(got, n.(map[string]any)["name"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	to := func(path, value string) string {
		return `[{"op":"add","path":"` + path + `","value":` + value + `}]`
	}
	c.refuses(t, []refusal{
		{115, "POST", "/v1/chassis", `{"uuid":"` + rack + `"}`, 409, "A chassis with UUID " + rack + " already exists."},
		{115, "POST", "/v1/chassis", `{"description":"` + strings.Repeat("x", 256) + `"}`, 400, "is too long"},
		{115, "POST", "/v1/chassis", `{"name":"x"}`, 400,
			"Schema error for chassis: Additional properties are not allowed ('name' was unexpected)"},
		{115, "PATCH", "/v1/chassis/" + rack, to("/uuid", `"`+nowhere+`"`), 400, "Cannot patch /uuid"},
		{115, "PATCH", "/v1/chassis/" + nowhere, to("/extra", `{}`), 404, "Chassis " + nowhere + " could not be found."},
		{115, "GET", "/v1/chassis/left", "", 400, "Expected UUID for chassis_uuid: left"},
		{115, "DELETE", "/v1/chassis", "", 400, "Missing mandatory parameter: chassis_uuid"},
		{115, "GET", "/v1/chassis/" + nowhere + "/nodes", "", 404, "Chassis " + nowhere + " could not be found."},
		{115, "GET", "/v1/nodes?chassis_uuid=" + nowhere, "", 404, "Chassis " + nowhere + " could not be found."},
		{7, "GET", "/v1/chassis/" + rack + "?fields=uuid", "", 406, "not acceptable"},
		{7, "GET", "/v1/chassis?fields=uuid", "", 406, "not acceptable"},
		{42, "GET", "/v1/chassis?detail=True", "", 400, "detail"},
		{115, "GET", "/v1/chassis?sort_key=extra", "", 400, "invalid field for sorting"},
		{115, "DELETE", "/v1/chassis/" + rack, "", 400, "Cannot complete the requested action because chassis " + rack +
			" contains nodes."},
		{115, "POST", "/v1/nodes", `{"driver":"fake-hardware","chassis_uuid":"` + nowhere + `"}`, 400,
			"Chassis " + nowhere + " could not be found."},
		{115, "PATCH", "/v1/nodes/b", to("/chassis_uuid", `"`+nowhere+`"`), 400,
			"Chassis " + nowhere + " could not be found."},
	})
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/a", `[{"op":"remove","path":"/chassis_uuid"}]`)
	doc := c.must(http.StatusOK, 115, "PATCH", "/v1/chassis/"+rack, to("/description", `"right"`)).doc(t)
	if doc["description"] != "right" || doc["updated_at"] == nil {
		t.Errorf("patched: %v", doc)
	}
	if list := c.must(http.StatusOK, 8, "GET", "/v1/chassis/detail", "").doc(t)["chassis"].([]any); len(list) != 1 ||
		list[0].(map[string]any)["extra"] == nil {
		t.Errorf("in detail: %v", list)
	}
	c.must(http.StatusNoContent, 1, "DELETE", "/v1/chassis/"+rack, "")
}
