package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestTraitRefusals compares refusals, word by word, with recorded answers of Ironic 21.4, and with its other rules.
func TestTraitRefusals(t *testing.T) {
	c := newConductor(t)
	id, _ := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`).doc(
		t)["uuid"].(string)
	const path = "/v1/nodes/n1/traits"
	full := make([]string, 50)
	for i := range full {
		full[i] = `"CUSTOM_` + strconv.Itoa(i) + `"`
	}
	c.must(http.StatusNoContent, 82, "PUT", path, `{"traits":[`+strings.Join(full, ",")+`]}`)
	bad := "'bad' is not valid under any of the given schemas. Possible root cause: 'bad' does not match " +
		"'^CUSTOM_[A-Z0-9_]+$'"
	tooMany := "Could not modify traits for node " + id +
		" as it would exceed the maximum number of traits per node (51 vs. 50)"
	c.refuses(t, []refusal{
		{82, "PUT", path + "/bad", "", 400, "Schema error for trait: " + bad},
		{82, "PUT", path, `{"traits":["bad"]}`, 400, "Schema error for body: " + bad},
		{82, "PUT", path, `{"traits":"x"}`, 400, "Schema error for body: 'x' is not of type 'array'"},
		{82, "PUT", path, `{}`, 400,
			"A single node trait may be added via PUT /v1/nodes/<node identifier>/traits/<trait> with no body, or all node " +
				"traits may be replaced via PUT /v1/nodes/<node identifier>/traits with the list of traits specified in the " +
				"request body."},
		{82, "PUT", path, `{"traits":[],"more":1}`, 400,
			"Schema error for body: Additional properties are not allowed ('more' was unexpected)"},
		{82, "PUT", path + "/CUSTOM_A", `{"traits":["CUSTOM_B"]}`, 400, "No body should be provided when adding a trait"},
		{82, "PUT", path + "/CUSTOM_A", "", 400, tooMany},
		{82, "PUT", path, `{"traits":["CUSTOM_A",` + strings.Join(full, ",") + `]}`, 400, tooMany},
		{82, "DELETE", path + "/CUSTOM_A", "", 404, "Node " + id + " doesn't have a trait 'CUSTOM_A'"},
		{82, "GET", path + "/CUSTOM_0", "", 405, ""},
		{36, "GET", path, "", 406, "Request not acceptable."},
		{36, "PUT", path, `{"traits":[]}`, 405, ""},
		{36, "PUT", path + "/CUSTOM_A", "", 405, ""},
		{36, "DELETE", path, "", 404, "Resource could not be found."},
		{36, "DELETE", path + "/CUSTOM_A", "", 404, "Resource could not be found."},
		{82, "GET", "/v1/nodes/nobody/traits", "", 404, "Node nobody could not be found."},
		{82, "PUT", "/v1/nodes/nobody/traits/CUSTOM_A", "", 404, "Node nobody could not be found."},
		{82, "POST", path, `{"traits":[]}`, 405, ""},
		{82, "PATCH", "/v1/nodes/n1", `[{"op":"add","path":"/traits/0","value":"CUSTOM_A"}]`, 400, "Cannot patch /traits/0"},
	})
	if got := c.must(http.StatusOK, 82, "GET", path, "").doc(t)["traits"].([]any); len(got) != 50 {
		t.Errorf("after all refusals the node has %d traits", len(got))
	}
	c.must(http.StatusNoContent, 82, "PUT", path+"/CUSTOM_7", "") // it has that one
}

// TestTraitsOfLockedNode: the traits of a locked node cannot change.
func TestTraitsOfLockedNode(t *testing.T) {
	c := newConductor(t)
	c.BMC.Hang = make(chan struct{})
	id, _ := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`).doc(
		t)["uuid"].(string)
	c.must(http.StatusNoContent, 82, "PUT", "/v1/nodes/n1/traits/CUSTOM_A", "")
	c.must(http.StatusAccepted, 82, "PUT", "/v1/nodes/n1/states/provision", `{"target":"manage"}`)
	locked := "Node " + id + " is locked by host conductor-1, please retry after the current operation is completed."
	c.refuses(t, []refusal{
		{82, "PUT", "/v1/nodes/n1/traits", `{"traits":[]}`, 409, locked},
		{82, "PUT", "/v1/nodes/n1/traits/CUSTOM_B", "", 409, locked},
		{82, "DELETE", "/v1/nodes/n1/traits/CUSTOM_A", "", 409, locked},
		{82, "DELETE", "/v1/nodes/n1/traits", "", 409, locked},
	})
	close(c.BMC.Hang)
	if n := c.settle(id); len(n.Traits) != 1 || n.Traits[0] != "CUSTOM_A" {
		t.Errorf("the node's traits are %v", n.Traits)
	}
}
