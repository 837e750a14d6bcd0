package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const allocs = "/v1/allocations"

// offer makes an available node of a class.
func (c *conductor) offer(name, class string) node.Node {
	c.t.Helper()
	c.must(http.StatusCreated, 82, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"`+name+`","resource_class":"`+class+`"}`)
	return c.provision(name, "manage", "provide")
}

// TestAllocationRefusals compares refusals with recorded answers of Ironic 21.4, and with its other rules.
func TestAllocationRefusals(t *testing.T) {
	c := newConductor(t)
	c.offer("n1", "bm")
	c.must(http.StatusCreated, 82, "POST", allocs, `{"name":"a1","resource_class":"bm"}`)
	c.allocated("a1")
	c.offer("n2", "other")
	post := func(body, text string) refusal { return refusal{82, "POST", allocs, body, 400, text} }
	patch := func(ops, text string) refusal { return refusal{82, "PATCH", allocs + "/a1", ops, 400, text} }
	const tooOld = "The API version does not allow allocations"
	id := c.allocated("a1").UUID
	c.refuses(t, []refusal{
		{51, "GET", allocs, "", 404, tooOld},
		{51, "GET", allocs + "/ba!na", "", 404, tooOld},
		{51, "POST", allocs, `{}`, 405, tooOld},
		{51, "DELETE", allocs + "/a1", "", 405, tooOld},
		{51, "GET", "/v1/nodes/n1/allocation", "", 404, tooOld},
		{51, "DELETE", "/v1/nodes/n1/allocation", "", 404, tooOld},
		{56, "PATCH", allocs + "/a1", `[]`, 405, "The API version does not allow updating allocations"},
		{57, "POST", allocs, `{"node":"n1"}`, 400, "Cannot set node when creating an allocation in this API version"},
		{59, "POST", allocs, `{"resource_class":"bm","owner":"me"}`, 406, ""},
		{59, "GET", allocs + "?owner=me", "", 406, ""},
		{59, "GET", allocs + "?fields=owner", "", 406, ""},
		{59, "GET", allocs + "/a1?fields=owner", "", 406, ""},
		{90, "GET", allocs + "/nobody.json", "", 404, "Allocation nobody could not be found."},
		{91, "DELETE", allocs + "/a1.json", "", 404, "Allocation a1.json could not be found."},

		{82, "POST", allocs, `{"name":"a1","resource_class":"bm"}`, 409, "An allocation with name a1 already exists."},
		{82, "POST", allocs, `{"uuid":"` + id + `","resource_class":"bm"}`, 409,
			"An allocation with UUID " + id + " already exists."},
		post(`{}`, "The resource_class field is mandatory when not backfilling"),
		post(`{"resource_class":null}`, "The resource_class field is mandatory when not backfilling"),
		post(`{"resource_class":"`+strings.Repeat("x", 81)+`"}`, "is too long"),
		post(`{"resource_class":7}`, "Schema error for allocation: 7 is not of type 'string', 'null'"),
		post(`{"resource_class":"bm","candidate_nodes":["nope"]}`, "Nodes cannot be found: nope"),
		post(`{"resource_class":"bm","candidate_nodes":["no such","n1","nope"]}`, "Nodes cannot be found: no such, nope"),
		post(`{"resource_class":"bm","candidate_nodes":["n1"`+strings.Repeat(`,"n1"`, 1000)+`]}`,
			"candidate_nodes has 1001 nodes, at most 1000 are taken"),
		post(`{"resource_class":"bm","candidate_nodes":"n1"}`,
			"Schema error for allocation: 'n1' is not of type 'array', 'null'"),
		post(`{"resource_class":"bm","candidate_nodes":[1]}`, "Schema error for allocation: 1 is not of type 'string'"),
		post(`{"resource_class":"bm","traits":["bad"]}`,
			"Schema error for allocation: 'bad' is not valid under any of the given schemas"),
		post(`{"resource_class":"bm","name":"ban!na"}`, "Cannot create allocation with invalid name 'ban!na'"),
		post(`{"resource_class":"bm","uuid":"x"}`, "Expected UUID for uuid: x"),
		post(`{"resource_class":"bm","node_uuid":"`+id+`"}`,
			"Additional properties are not allowed ('node_uuid' was unexpected)"),
		post(`{"resource_class":"bm","state":"active"}`, "Additional properties are not allowed ('state' was unexpected)"),
		post(`{"node":"nobody"}`, "Node nobody could not be found."),
		{82, "POST", allocs, `{"node":"n1"}`, 409, "already exists"}, // it has its allocation
		{82, "POST", allocs, `{"node":"n2"}`, 400,
			`Node must be in the "active" state, but the current state is "available"`},
		post(`[]`, "[] is not of type 'object'"),

		patch(`[{"op":"replace","path":"/state","value":"x"}]`,
			"Cannot patch /state. Only the following can be updated: extra, name"),
		patch(`[{"op":"replace","path":"/owner","value":"x"}]`, "Cannot patch /owner."),
		patch(`[{"op":"remove","path":"/uuid"}]`, "Cannot patch /uuid."),
		patch(`[{"op":"replace","path":"/node","value":"n1"}]`, "Cannot patch /node."),
		patch(`[{"op":"replace","path":"/name","value":"ban!na"}]`, "invalid name 'ban!na'"),
		patch(`[{"op":"remove","path":"/extra/none"}]`, "Couldn't apply patch"),
		{82, "PATCH", allocs + "/nobody", `[{"op":"replace","path":"/name","value":"b"}]`, 404,
			"Allocation nobody could not be found."},

		{82, "GET", allocs + "?node=nobody", "", 400, "Node nobody could not be found."},
		{82, "GET", allocs + "?sort_key=traits", "", 400, "invalid field for sorting"},
		{82, "GET", allocs + "?sort_key=node_uuid", "", 400, "invalid field for sorting"},
		{82, "GET", allocs + "?detail=True", "", 400, "Unexpected arguments: detail"},
		{82, "GET", allocs + "?fields=node", "", 400, `Field(s) "node" are not valid`},
		{82, "GET", allocs + "?limit=0", "", 400, "Limit must be positive"},
		{82, "GET", allocs + "?marker=" + fuzzNode, "", 404, "Allocation " + fuzzNode + " could not be found."},
		{82, "GET", allocs + "/ban!na", "", 400, "Expected UUID or name for allocation_ident: ban!na"},
		{82, "GET", "/v1/nodes/nobody/allocation", "", 404, "Node nobody could not be found."},
		{82, "POST", "/v1/nodes/n1/allocation", `{}`, 405, ""},

		{82, "PATCH", "/v1/nodes/n1", `[{"op":"replace","path":"/instance_uuid","value":"` + fuzzNode + `"}]`, 409,
			"Node " + c.settle("n1").UUID + " is associated with instance " + id + "."},
		{82, "PATCH", "/v1/nodes/n1", `[{"op":"replace","path":"/allocation_uuid","value":"` + fuzzNode + `"}]`, 400,
			"Cannot patch /allocation_uuid."},
		{82, "DELETE", "/v1/nodes/n1", "", 409, "is associated with instance " + id},
	})
	if all := c.names(t, 82, "allocations", "limit=1"); !slices.Equal(all, []string{"a1"}) {
		t.Errorf("after all refusals there are %v", all)
	}
}

// TestAllocationFields: each field is shown from its microversion on. The answer to POST comes before a node is found.
func TestAllocationFields(t *testing.T) {
	c := newConductor(t)
	n := c.offer("n1", "bm")
	c.must(http.StatusNoContent, 82, "PUT", "/v1/nodes/n1/traits/CUSTOM_A", "")
	c.must(http.StatusOK, 82, "PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/lessee","value":"me"}]`)
	const id = "44444444-4444-4444-8444-444444444444"
	r := c.must(http.StatusCreated, 60, "POST", allocs,
		`{"uuid":"`+id+
			`","name":"a1","resource_class":"bm","traits":["CUSTOM_A"],"candidate_nodes":["n1"],"owner":"me","extra":{"k":1}}`)
	want := map[string]any{
		"uuid": id, "name": "a1", "resource_class": "bm", "traits": []any{"CUSTOM_A"}, "candidate_nodes": []any{n.UUID},
		"owner": "me", "extra": map[string]any{"k": 1.0},
		"state": "allocating", "node_uuid": nil, "last_error": nil, "updated_at": nil,
	}
	check := func(minor int, got map[string]any) {
		t.Helper()
		if links, ok := got["links"].([]any); got["created_at"] == nil || !ok ||
			links[0].(map[string]any)["href"] != c.URL+allocs+"/"+id {
			t.Errorf("at 1.%d: %v", minor, got)
		}
		delete(got, "created_at")
		delete(got, "links")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at 1.%d, -want +got:\n%s", minor, diff)
		}
	}
	check(60, r.doc(t))
	if got := r.header.Get("Location"); got != c.URL+allocs+"/"+id {
		t.Errorf("Location is %q", got)
	}
	c.allocated("a1")
	want["state"], want["node_uuid"] = "active", n.UUID
	for _, path := range []string{allocs + "/a1", allocs + "/a1.json", "/v1/nodes/n1/allocation"} {
		got := c.must(http.StatusOK, 90, "GET", path, "").doc(t)
		want["updated_at"] = got["updated_at"]
		check(90, got)
	}
	check(115, c.must(http.StatusOK, 115, "GET", allocs, "").doc(t)["allocations"].([]any)[0].(map[string]any))
	delete(want, "owner")
	check(52, c.must(http.StatusOK, 52, "GET", allocs+"/a1", "").doc(t))
	if got := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1/allocation?fields=name,extra", "").doc(t); len(got) != 3 ||
		got["name"] != "a1" || got["links"] == nil {
		t.Errorf("two fields: %v", got)
	}
	got := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1?fields=instance_uuid,allocation_uuid,instance_info", "").doc(t)
	delete(got, "links")
	if diff := cmp.Diff(map[string]any{"instance_uuid": id, "allocation_uuid": id,
		"instance_info": map[string]any{"traits": []any{"CUSTOM_A"}}}, got); diff != "" {
		t.Errorf("the node, -want +got:\n%s", diff)
	}
}

// TestAllocationLists: filters, order, pages.
func TestAllocationLists(t *testing.T) {
	c := newConductor(t)
	c.offer("n1", "bm")
	c.must(http.StatusCreated, 82, "POST", allocs, `{"name":"b","resource_class":"bm"}`)
	c.allocated("b")
	for _, a := range []string{`"name":"c","resource_class":"bm"`, `"name":"a","resource_class":"other","owner":"me"`,
		`"name":"d","resource_class":"other"`} {
		c.must(http.StatusCreated, 82, "POST", allocs, `{`+a+`}`)
	}
	for _, name := range []string{"c", "a", "d"} {
		if a := c.allocated(name); a.State != node.AllocationError ||
			!strings.HasPrefix(a.LastError,
				"Failed to process allocation "+a.UUID+": no available nodes match the resource class "+a.ResourceClass) {
			t.Errorf("%+v", a)
		}
	}
	for query, want := range map[string][]string{
		"":                                 {"b", "c", "a", "d"},
		"sort_key=name&limit=1":            {"a", "b", "c", "d"},
		"sort_key=name&sort_dir=desc":      {"d", "c", "b", "a"},
		"limit=3":                          {"b", "c", "a", "d"},
		"state=active":                     {"b"},
		"state=error&limit=2":              {"c", "a", "d"},
		"state=allocating":                 {},
		"state=nonsense":                   {},
		"resource_class=other":             {"a", "d"},
		"resource_class=other&state=error": {"a", "d"},
		"resource_class=":                  {},
		"owner=me":                         {"a"},
		"node=n1":                          {"b"},
		"node=n1&state=error":              {},
	} {
		if got := c.names(t, 82, "allocations", query); !slices.Equal(got, want) {
			t.Errorf("?%s: %v, want %v", query, got, want)
		}
	}
}

// TestAllocationLife: renamed, parted, backfilled, and ended with its instance.
func TestAllocationLife(t *testing.T) {
	c := newConductor(t)
	n := c.offer("n1", "bm")
	c.must(http.StatusCreated, 82, "POST", allocs, `{"name":"a1","resource_class":"bm"}`)
	c.allocated("a1")
	doc := c.must(http.StatusOK, 57, "PATCH", allocs+"/a1",
		`[{"op":"replace","path":"/name","value":"a2"},{"op":"add","path":"/extra/k","value":1}]`).doc(t)
	if doc["name"] != "a2" || doc["state"] != "active" {
		t.Errorf("renamed: %v", doc)
	}
	doc = c.must(http.StatusOK, 57, "PATCH", allocs+"/a2", `[{"op":"replace","path":"/name","value":null}]`).doc(t)
	if doc["name"] != nil {
		t.Errorf("without a name: %v", doc)
	}
	c.provision("n1", "active")
	const parted = "because the node is active (and maintenance mode is off)"
	c.refuses(t, []refusal{
		{82, "DELETE", "/v1/nodes/n1/allocation", "", 409, parted},
		{82, "DELETE", allocs + "/" + doc["uuid"].(string), "", 409, parted},
		{82, "PATCH", "/v1/nodes/n1", `[{"op":"remove","path":"/instance_uuid"}]`, 409, "can not have instance_uuid removed"},
	})
	c.must(http.StatusAccepted, 82, "PUT", "/v1/nodes/n1/maintenance", `{"reason":"repair"}`)
	c.must(http.StatusOK, 82, "PATCH", "/v1/nodes/n1", `[{"op":"remove","path":"/instance_uuid"}]`)
	c.must(http.StatusAccepted, 82, "DELETE", "/v1/nodes/n1/maintenance", "")
	c.refuses(t, []refusal{
		{82, "GET", "/v1/nodes/n1/allocation", "", 404, "Allocation for node n1 was not found"},
		{82, "DELETE", "/v1/nodes/n1/allocation", "", 404, "Allocation for node n1 was not found"},
		{82, "GET", allocs + "/" + doc["uuid"].(string), "", 404, "could not be found"},
		{82, "POST", allocs, `{"node":"n1","resource_class":"other"}`, 400,
			"Resource class bm does not match the requested resource class other"},
	})

	doc = c.must(http.StatusCreated, 58, "POST", allocs, `{"name":"late","node":"n1"}`).doc(t)
	if doc["state"] != "active" || doc["node_uuid"] != n.UUID || doc["resource_class"] != "bm" || doc["node"] != nil {
		t.Errorf("backfilled: %v", doc)
	}
	c.must(http.StatusConflict, 58, "POST", allocs, `{"name":"later","node":"n1"}`)
	c.provision("n1", "deleted")
	c.must(http.StatusNotFound, 82, "GET", allocs+"/late", "")
	if n := c.settle("n1"); n.ProvisionState != node.Available || n.InstanceUUID != "" || n.AllocationUUID != "" {
		t.Errorf("undeployed: %+v", n)
	}

	c.must(http.StatusCreated, 82, "POST", allocs, `{"name":"last","resource_class":"bm"}`)
	c.allocated("last")
	c.must(http.StatusAccepted, 82, "PUT", "/v1/nodes/n1/maintenance", `{}`)
	c.must(http.StatusNoContent, 82, "DELETE", "/v1/nodes/n1", "")
	c.must(http.StatusNotFound, 82, "GET", allocs+"/last", "")
}
