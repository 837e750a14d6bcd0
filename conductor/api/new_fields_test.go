package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// TestNewFieldsUnderRules: a field that a project's admin may not change cannot be set in a new record either.
func TestNewFieldsUnderRules(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	chassis := g.as("admin ", http.MethodPost, "/v1/chassis", `{}`).doc(t)["uuid"].(string)
	values := map[string]string{
		"chassis_uuid": `"` + chassis + `"`, "shard": `"x"`, "disable_power_off": `true`, "automated_clean off": `false`,
		"conductor_group": `"x"`, "owner": `"` + owner + `"`, "parent_node": `"` + e.node + `"`, "public": `true`,
	}
	const step = `"steps":[{"interface":"bios","step":"factory_reset","args":{},"order":1}]`
	records := map[string]string{"nodes": `{"driver":"fake-hardware"`, "runbooks": `{"name":"CUSTOM_A",` + step}
	checked := 0
	for _, rule := range auth.Policy() {
		for _, what := range rule.For {
			path, field, under := strings.Cut(strings.TrimPrefix(what, "PATCH /v1/"), " ")
			resource, _, _ := strings.Cut(path, "/")
			named := &auth.Caller{User: "x", Role: auth.Admin, Project: other}
			if !strings.HasPrefix(what, "PATCH ") || !under || field == "owner while active" || rule.Allows(named, other, "") {
				continue
			}
			value, known := values[field]
			if !known {
				t.Errorf("%s: no value to try", what)
				continue
			}
			field, _, _ = strings.Cut(field, " ")
			body := fmt.Sprintf("%s,%q:%s}", records[resource], field, value)
			if r := g.as("admin "+other, http.MethodPost, "/v1/"+resource, body); r.status != http.StatusForbidden &&
				r.status != http.StatusBadRequest {
				t.Errorf("POST /v1/%s %s by a project's admin: %d %s", resource, body, r.status, r.body)
			}
			checked++
		}
	}
	if checked < 8 {
		t.Errorf("only %d fields were tried", checked)
	}
	if r := g.as("admin "+other, http.MethodPost, "/v1/nodes",
		`{"driver":"fake-hardware","automated_clean":true,"chassis_uuid":null,"properties":{"a":1}}`); r.status != http.StatusCreated {
		t.Errorf("fields that he may change: %d %s", r.status, r.body)
	}
}
