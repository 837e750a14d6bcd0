package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const (
	inspectionRules = "/v1/inspection_rules"
	ruleID          = "55555555-5555-4555-8555-555555555555"
	oneAction       = `"actions":[{"op":"log","args":{"msg":"x"}}]`
)

func TestInspectionRuleRefusals(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 96, "POST", inspectionRules, `{"uuid":"`+ruleID+`",`+oneAction+`}`)
	post := func(fields, text string) refusal {
		return refusal{96, "POST", inspectionRules, `{` + fields + `}`, 400, text}
	}
	patch := func(ops, text string) refusal {
		return refusal{96, "PATCH", inspectionRules + "/" + ruleID, ops, 400, text}
	}
	c.refuses(t, []refusal{
		{95, "GET", inspectionRules, "", 404, "The API version does not allow inspection rules"},
		{95, "GET", inspectionRules + "/" + ruleID, "", 404, "The API version does not allow inspection rules"},
		{95, "POST", inspectionRules, "", 405, "The API version does not allow inspection rules"},
		{95, "PATCH", inspectionRules + "/" + ruleID, "", 405, "The API version does not allow inspection rules"},
		{95, "DELETE", inspectionRules, "", 405, "The API version does not allow inspection rules"},
		{96, "GET", inspectionRules + "/name", "", 400, "Expected UUID for inspection_rule_uuid: name"},
		{96, "GET", inspectionRules + "/" + strings.ReplaceAll(ruleID, "5", "6"), "", 404,
			"Inspection rule 66666666-6666-4666-8666-666666666666 could not be found."},
		{96, "POST", inspectionRules, `{"uuid":"` + ruleID + `",` + oneAction + `}`, 409,
			"UUID " + ruleID + " already exists"},
		post(``, "Schema error for inspection_rule: 'actions' is a required property"),
		post(`"actions":[]`, "Schema error for inspection_rule: [] is too short"),
		post(`"scope":"x",`+oneAction, "Additional properties are not allowed ('scope' was unexpected)"),
		post(`"phase":"before",`+oneAction, "Invalid phase: before. Valid phases are: main"),
		post(`"phase":"seventeen letters",`+oneAction, "too long"),
		post(`"priority":-1,`+oneAction, "-1 is less than the minimum of 0"),
		post(`"priority":10000,`+oneAction, "Priority must be between 0 and 9999 for user-defined rules."),
		post(`"priority":"1",`+oneAction, "'1' is not of type 'integer'"),
		post(`"priority":1.5,`+oneAction, "1.5 is not of type 'integer'"),
		post(`"sensitive":"yes",`+oneAction, "'yes' is not of type 'boolean', 'null'"),
		post(`"conditions":[{"op":"ne","args":[]}],`+oneAction, "Schema error for inspection_rule: 'ne' is not one of"),
		post(`"actions":[{"op":"log","args":{}}]`, "Invalid parameters for log: missing required argument(s): msg"),
		patch(`[{"op":"remove","path":"/actions"}]`, "Schema error for patch: None is not of type 'array'"),
		patch(`[{"op":"add","path":"/actions/-","value":{"op":"x","args":[]}}]`, "'x' is not one of"),
		patch(`[{"op":"replace","path":"/uuid","value":"`+ruleID+`"}]`, "Cannot patch /uuid"),
		{96, "GET", inspectionRules + "?sort_key=actions", "", 400,
			`The sort_key value "actions" is an invalid field for sorting`},
		{96, "DELETE", inspectionRules + "?confirm=true", "", 400, "Unexpected arguments: confirm"},
	})
}

// TestInspectionRules walks through the life of rules.
func TestInspectionRules(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusCreated, 96, "POST", inspectionRules, `{"uuid":"`+ruleID+`","description":"d","priority":9,
		"conditions":[{"op":"!eq","args":[["a","{item}"]],"loop":["b"],"unknown":1}],
		"actions":[{"op":"set-attribute","args":{"path":"driver_info/ipmi_password","value":"pa55"}},
			{"op":"set-attribute","args":["driver_info.token","pa55"]},
			{"op":"set-attribute","args":{"path":"{item[path]}","value":"{item[value]}"},"loop":[{"path":"/driver_info/ipmi_password","value":"pa55"}],"multiple":"all"}]}`)
	if r.header.Get("Location") != c.URL+inspectionRules+"/"+ruleID {
		t.Errorf("Location %q", r.header.Get("Location"))
	}
	clauses := map[string]any{
		"conditions": []any{map[string]any{"op": "!eq", "args": []any{[]any{"a", "{item}"}}, "loop": []any{"b"},
			"multiple": "any"}},
		"actions": []any{
			map[string]any{
				"op": "set-attribute", "args": map[string]any{"path": "driver_info/ipmi_password", "value": "******"},
			},
			map[string]any{"op": "set-attribute", "args": []any{"driver_info.token", "******"}},
			map[string]any{"op": "set-attribute", "args": map[string]any{"path": "{item[path]}", "value": "{item[value]}"},
				"loop": []any{map[string]any{"path": "/driver_info/ipmi_password", "value": "******"}}},
		},
	}
	check := func(r reply, want map[string]any) {
		t.Helper()
		got := r.doc(t)
		for _, k := range []string{"created_at", "updated_at", "links"} {
			if _, ok := got[k]; !ok {
				t.Errorf("no %s in %v", k, got)
			}
			delete(got, k)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	want := map[string]any{"uuid": ruleID, "description": "d", "priority": 9.0, "phase": "main", "sensitive": false,
		"conditions": clauses["conditions"], "actions": clauses["actions"]}
	check(r, want)
	check(c.must(http.StatusOK, 96, "GET", inspectionRules+"/"+ruleID, ""), want)

	c.must(http.StatusCreated, 96, "POST", inspectionRules, `{"phase":null,"priority":10,`+oneAction+`}`)
	for query, uuids := range map[string]int{"": 2, "?phase=main": 2, "?phase=other": 0, "?detail=true": 2,
		"?limit=1": 1} {
		if list := c.must(http.StatusOK, 96, "GET", inspectionRules+query, "").doc(t)["inspection_rules"].([]any); len(
			list) != uuids {
			t.Errorf("%s: %d rules, want %d", query, len(list), uuids)
		}
	}
	last := c.must(http.StatusOK, 96, "GET", inspectionRules+"?sort_key=priority&sort_dir=desc", "").doc(
		t)["inspection_rules"].([]any)[1].(map[string]any)
	if len(last) != 5 || last["uuid"] != ruleID || last["links"] == nil {
		t.Errorf("a list shows %v", last)
	}

	// A patch begins with the stored values, not with the masked ones.
	c.must(http.StatusOK, 96, "PATCH", inspectionRules+"/"+ruleID,
		`[{"op":"replace","path":"/actions/0/args/path","value":"driver_info/redfish_password"},{"op":"remove","path":"/conditions"},{"op":"remove","path":"/priority"},{"op":"replace","path":"/sensitive","value":true}]`)
	want["priority"], want["sensitive"], want["conditions"], want["actions"] = 0.0, true, nil, nil
	check(c.must(http.StatusOK, 96, "GET", inspectionRules+"/"+ruleID, ""), want)
	kept, err := c.Engine.Catalogs().InspectionRules.Find(t.Context(), ruleID)
	if err != nil || len(kept.Conditions) != 0 ||
		!cmp.Equal(kept.Actions[0].Args, any(map[string]any{"path": "driver_info/redfish_password", "value": "pa55"})) ||
		!cmp.Equal(kept.Actions[2].Loop, any([]any{map[string]any{"path": "/driver_info/ipmi_password", "value": "pa55"}})) {
		t.Errorf("kept: %+v %v", kept, err)
	}
	for _, ops := range []string{`[{"op":"replace","path":"/sensitive","value":false}]`,
		`[{"op":"remove","path":"/sensitive"}]`} {
		c.refuses(t,
			[]refusal{
				{96, "PATCH", inspectionRules + "/" + ruleID, ops, 400, "Inspection rules cannot have the sensitive flag unset."},
			})
	}
	c.must(http.StatusOK, 96, "PATCH", inspectionRules+"/"+ruleID, `[{"op":"replace","path":"/sensitive","value":true}]`)

	c.must(http.StatusNoContent, 96, "DELETE", inspectionRules+"/"+ruleID, "")
	c.must(http.StatusNotFound, 96, "DELETE", inspectionRules+"/"+ruleID, "")
	c.must(http.StatusNoContent, 96, "DELETE", inspectionRules, "")
	if got := c.must(http.StatusOK, 96, "GET", inspectionRules, "").body; got != `{"inspection_rules":[]}` {
		t.Errorf("after all are forgotten: %s", got)
	}
}

// TestInspectionRulesApply inspects a node out of band and checks the effects of rules, through the API alone.
func TestInspectionRulesApply(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 96, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"http://h"},"inspect_interface":"redfish"}`)
	c.must(http.StatusCreated, 96, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"taken"}`)
	c.must(http.StatusCreated, 96, "POST", inspectionRules,
		`{"priority":1,"conditions":[{"op":"is-empty","args":{"value":"{inventory[gpus]}"}}],
		"actions":[{"op":"set-plugin-data","args":["seen","{node.name}"]},{"op":"add-trait","args":["CUSTOM_SEEN"]},{"op":"set-attribute","args":["resource_class","plain"]}]}`)
	c.provision("n1", "manage")
	inspect := func() node.Node {
		c.must(http.StatusAccepted, 96, "PUT", "/v1/nodes/n1/states/provision", `{"target":"inspect"}`)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if n := c.settle("n1"); n.Run == nil {
				return n
			}
		}
		t.Fatal("the inspection does not end")
		return node.Node{}
	}
	if n := inspect(); n.ProvisionState != node.Manageable || n.ResourceClass != "plain" ||
		!cmp.Equal(n.Traits, []string{"CUSTOM_SEEN"}) {
		t.Errorf("inspected: %s %q %v %s", n.ProvisionState, n.ResourceClass, n.Traits, n.LastError)
	}
	kept, _ := c.must(http.StatusOK, 96, "GET", "/v1/nodes/n1/inventory", "").doc(t)["plugin_data"].(map[string]any)
	if kept["seen"] != "n1" {
		t.Errorf("plugin data: %v", kept)
	}

	c.must(http.StatusCreated, 96, "POST", inspectionRules,
		`{"uuid":"`+ruleID+`","actions":[{"op":"set-attribute","args":["name","taken"]}]}`)
	n := inspect()
	if want := "inspection rule " + ruleID +
		": the name taken is another node's"; n.ProvisionState != node.InspectFailed || n.Name != "n1" ||
		!strings.HasSuffix(n.LastError, want) {
		t.Errorf("a name that is taken: %s %q %q", n.ProvisionState, n.Name, n.LastError)
	}

	c.must(http.StatusNoContent, 96, "DELETE", inspectionRules+"/"+ruleID, "")
	c.must(http.StatusCreated, 96, "POST", "/v1/nodes", enrollment("holder", "https://10.0.0.1", "", ""))
	c.must(http.StatusCreated, 96, "POST", inspectionRules,
		`{"actions":[{"op":"set-attribute","args":["driver_info/redfish_address","https://10.0.0.1"]}]}`)
	n = inspect()
	if n.ProvisionState != node.InspectFailed || n.DriverInfo["redfish_address"] != "http://h" ||
		!strings.Contains(n.LastError, "inspection rules name a BMC in driver_info that another node has") {
		t.Errorf("a BMC that is taken: %s %v %q", n.ProvisionState, n.DriverInfo, n.LastError)
	}
}
