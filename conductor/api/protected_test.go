package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
)

// TestProtected: only a workload can be protected, and only a protected node has a reason for it. Retirement has rules
// of the same kind.
func TestProtected(t *testing.T) {
	store := mem.New()
	c := &conductor{t: t, Conductor: apitest.Start(t, store, nil)}
	patch := func(id string, field string, value any) reply {
		return c.do(115, "PATCH", "/v1/nodes/"+id, fmt.Sprintf(`[{"op":"add","path":"/%s","value":%v}]`, field, value))
	}
	for state := range node.States {
		if state.Class() != node.Stable {
			continue
		}
		id := place(t, c, store, state)
		want := http.StatusConflict
		if state == node.Active || state == node.Rescue {
			want = http.StatusOK
		}
		r := patch(id, "protected", true)
		text := "Node " + id + " can only be made protected in provision states 'active' or 'rescue', the " +
			"current state is '" + string(state) + "'"
		if r.status != want || want != http.StatusOK && r.text() != text {
			t.Errorf("protected in %s: %d %s, want %d", state, r.status, r.body, want)
		}
		want = http.StatusOK
		if state == node.Available {
			want = http.StatusConflict
		}
		if r := patch(id, "retired", true); r.status != want {
			t.Errorf("retired in %s: %d %s, want %d", state, r.status, r.body, want)
		}
	}

	id := place(t, c, store, node.Active)
	for _, field := range []string{"protected", "retired"} {
		reason := field + "_reason"
		if r := patch(id, reason, `"why"`); r.status != http.StatusBadRequest ||
			r.text() != "The "+reason+" field can only be set when "+field+" is True" {
			t.Errorf("%s without %s: %d %s", reason, field, r.status, r.body)
		}
		if r := c.do(115, "PATCH", "/v1/nodes/"+id, `[{"op":"add","path":"/`+reason+`","value":"why"},{"op":"add","path":"/`+
			field+`","value":true}]`); r.status != http.StatusOK {
			t.Errorf("both: %d %s", r.status, r.body)
		}
		if doc := patch(id, "extra/a", 1).doc(t); doc[field] != true || doc[reason] != "why" {
			t.Errorf("%v, %v after another change", doc[field], doc[reason])
		}
		if doc := patch(id, field, false).doc(t); doc[field] != false || doc[reason] != nil {
			t.Errorf("%v, %v when it has ended, want false and no reason", doc[field], doc[reason])
		}
	}
}

// TestInstanceTraits: the instance's traits choose deploy templates, and so they
// are the node's.
func TestInstanceTraits(t *testing.T) {
	c := newConductor(t)
	const (
		invalid = "Error parsing traits from Node %s instance_info field. A list of strings is expected."
		missing = "Cannot specify instance traits that are not also set on the node. Node %s is missing traits "
	)
	for i, k := range []struct{ traits, reason string }{
		{`["CUSTOM_GOLD"]`, ""},
		{`[]`, ""},
		{`""`, ""},
		{`null`, ""},
		{`["CUSTOM_SILVER","CUSTOM_GOLD","CUSTOM_TIN"]`, missing + "CUSTOM_SILVER, CUSTOM_TIN"},
		{`"CUSTOM_GOLD"`, invalid},
		{`{"CUSTOM_GOLD":1}`, invalid},
		{`["CUSTOM_GOLD",1]`, invalid},
	} {
		t.Run(k.traits, func(t *testing.T) {
			name := fmt.Sprintf("n%d", i)
			id, _ := c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"`+name+`"}`).doc(
				t)["uuid"].(string)
			c.must(http.StatusNoContent, 115, "PUT", "/v1/nodes/"+id+"/traits", `{"traits":["CUSTOM_GOLD"]}`)
			c.provision(id, "manage", "provide")
			ask := func(target string, state node.State) {
				t.Helper()
				c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/"+id, `[{"op":"add","path":"/instance_info/traits","value":`+
					k.traits+`}]`)
				reason := k.reason
				if reason != "" {
					reason = fmt.Sprintf(reason, id)
				}
				deploy, _ := c.must(http.StatusOK, 115, "GET", "/v1/nodes/"+id+"/validate", "").doc(t)["deploy"].(map[string]any)
				if said, _ := deploy["reason"].(string); deploy["result"] != (reason == "") || said != reason {
					t.Errorf("validate says %v, want %q", deploy, reason)
				}
				r := c.do(115, "PUT", "/v1/nodes/"+id+"/states/provision", `{"target":"`+target+`"}`)
				switch {
				case reason == "" && r.status == http.StatusAccepted:
				case reason == "", r.status != http.StatusBadRequest,
					r.text() != "Failed to validate deploy or power info for node "+id+": "+reason:
					t.Errorf("%s answers %d %s", target, r.status, r.body)
				}
				if n := c.settle(id); reason == "" && n.ProvisionState != node.Active || reason != "" && n.ProvisionState != state {
					t.Errorf("after %s the node is %s", target, n.ProvisionState)
				}
			}
			ask("active", node.Available)
			c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/"+id, `[{"op":"add","path":"/instance_info/traits","value":null}]`)
			if k.reason != "" {
				c.provision(id, "active")
			}
			ask("rebuild", node.Active)
		})
	}
}
