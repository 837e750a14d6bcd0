package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestChildren(t *testing.T) {
	c := newConductor(t)
	id, _ := c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`).doc(
		t)["uuid"].(string)
	links := `"links":{"href":"` + c.URL + `/v1/nodes?parent_node=` + id + `","rel":"children"}`
	equalJSON(t, `{"children":[],`+links+`}`, c.must(http.StatusOK, 83, "GET", "/v1/nodes/n1/children", "").body)
	child, _ := c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n2","parent_node":"`+id+
			`"}`).doc(t)["uuid"].(string)
	equalJSON(t, `{"children":["`+child+`"],`+links+`}`,
		c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/children", "").body)
	c.must(http.StatusNotFound, 82, "GET", "/v1/nodes/n1/children", "")
	c.must(http.StatusNotFound, 115, "GET", "/v1/nodes/n9/children", "")
}

// TestParentByName: a parent is named by UUID or name, and belongs to the owner of its child, also for admins.
func TestParentByName(t *testing.T) {
	c := newConductor(t)
	create := func(status int, more string) map[string]any {
		return c.must(status, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware"`+more+`}`).doc(t)
	}
	id := create(http.StatusCreated, `,"name":"n1","owner":"red"`)["uuid"]
	if got := create(http.StatusCreated, `,"name":"n2","owner":"red","parent_node":"n1"`)["parent_node"]; got != id {
		t.Errorf("created with the parent %v, want %v", got, id)
	}
	create(http.StatusBadRequest, `,"owner":"blue","parent_node":"n1"`)
	create(http.StatusBadRequest, `,"parent_node":"n1"`)
	create(http.StatusBadRequest, `,"owner":"red","parent_node":"nobody"`)
	create(http.StatusCreated, `,"name":"n3","owner":"red"`)
	create(http.StatusCreated, `,"name":"n4","owner":"blue"`)
	patch := func(status int, of, parent string) map[string]any {
		return c.must(status, 115, "PATCH", "/v1/nodes/"+of, `[{"op":"add","path":"/parent_node","value":"`+parent+`"}]`).doc(t)
	}
	if got := patch(http.StatusOK, "n3", "n1")["parent_node"]; got != id {
		t.Errorf("patched to the parent %v, want %v", got, id)
	}
	c.refuses(t, []refusal{{115, "PATCH", "/v1/nodes/n4", `[{"op":"add","path":"/parent_node","value":"n1"}]`, 400,
		"Unable to apply the requested parent_node 'n1'. Requested value was invalid"}})
	patch(http.StatusBadRequest, "n3", "n3")
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n3", `[{"op":"remove","path":"/parent_node"}]`)
}

func TestHistoryFields(t *testing.T) {
	c := newConductor(t)
	id := managed(t, c, `{"driver":"fake-hardware","name":"n1"}`)
	told(t, c, id, "factory_reset")
	first := func(minor int, query string) map[string]any {
		all, _ := c.must(http.StatusOK, minor, "GET", "/v1/nodes/n1/history"+query, "").doc(t)["history"].([]any)
		if len(all) < 3 {
			t.Fatalf("history has %d entries", len(all))
		}
		entry, _ := all[0].(map[string]any)
		return entry
	}
	for field, since := range map[string]int{"event_type": 78, "conductor": 78, "user": 78, "project": 113, "state": 115,
		"target_provision_state": 115, "duration_seconds": 115} {
		for minor, want := range map[int]bool{since - 1: since == 78, since: true} {
			if _, got := first(max(minor, 78), "?detail=True")[field]; got != want {
				t.Errorf("%s at 1.%d: shown %v, want %v", field, minor, got, want)
			}
		}
		if _, got := first(115, "")[field]; got {
			t.Errorf("%s is shown without detail", field)
		}
	}
	oldest, newest := first(115, "?sort_dir=asc"), first(115, "?sort_dir=desc&sort_key=created_at")
	if oldest["event"] != "verify started" || !strings.HasPrefix(newest["event"].(string), "clean done") {
		t.Errorf("the oldest is %v, the newest %v", oldest["event"], newest["event"])
	}
	if e := first(115, "?sort_key=event")["event"].(string); !strings.HasPrefix(e, "clean done") {
		t.Errorf("the first by event is %q", e)
	}
	c.must(http.StatusBadRequest, 115, "GET", "/v1/nodes/n1/history?sort_key=color", "")
}

// The name of an instance is its own field, and older clients' display_name
// where that is not set.
func TestInstanceName(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","instance_name":"web-1","owner":"o1","lessee":"l1"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n2","owner":"l1"}`)
	patch := func(ops string) any {
		return c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n2", ops).doc(t)["instance_name"]
	}
	for _, step := range []struct {
		ops  string
		want any
	}{
		{`[{"op":"add","path":"/instance_info/display_name","value":"web-2"}]`, "web-2"},
		{`[{"op":"replace","path":"/instance_info/display_name","value":"web-3"}]`, "web-2"},
		{`[{"op":"remove","path":"/instance_name"}]`, nil},
		{`[{"op":"add","path":"/extra/a","value":1}]`, nil},
		{`[{"op":"replace","path":"/instance_info/display_name","value":"web-4"}]`, "web-4"},
	} {
		if got := patch(step.ops); got != step.want {
			t.Errorf("after %s the name is %v, want %v", step.ops, got, step.want)
		}
	}
	for query, want := range map[string]string{
		"instance_name=web-1": "n1", "instance_name=web-9": "", "instance_name=": "", "project=l1": "n1 n2",
		"project=o1": "n1", "project=p": "",
		"sort_key=instance_name": "n1 n2", "sort_key=health&sort_dir=desc": "n2 n1",
	} {
		var names []string
		list, _ := c.must(http.StatusOK, 115, "GET", "/v1/nodes?"+query, "").doc(t)["nodes"].([]any)
		for _, n := range list {
			name, _ := n.(map[string]any)["name"].(string)
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	c.must(http.StatusNotAcceptable, 103, "GET", "/v1/nodes?instance_name=web-1", "")
	c.must(http.StatusBadRequest, 115, "PATCH", "/v1/nodes/n1", `[{"op":"replace","path":"/instance_name","value":""}]`)
	c.must(http.StatusNotAcceptable, 103, "PATCH", "/v1/nodes/n1",
		`[{"op":"replace","path":"/instance_name","value":"x"}]`)
}
