package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestLife takes a node of fake hardware through its life cycle.
func TestLife(t *testing.T) {
	c := newConductor(t)
	r := c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	id, _ := r.doc(t)["uuid"].(string)
	if want := c.URL + "/v1/nodes/" + id; r.header.Get("Location") != want {
		t.Errorf("Location %q, want %q", r.header.Get("Location"), want)
	}
	for _, step := range []struct {
		verb string
		ends node.State
	}{
		{"manage", node.Manageable}, {"inspect", node.Manageable}, {"provide", node.Available},
		{"active", node.Active}, {"rebuild", node.Active}, {"deleted", node.Available}, {"manage", node.Manageable},
	} {
		r := c.must(http.StatusAccepted, 82, "PUT", "/v1/nodes/n1/states/provision", `{"target":"`+step.verb+`"}`)
		if r.body != "" || r.header.Get("Location") != c.URL+"/v1/nodes/n1/states" {
			t.Errorf("%s: body %q, Location %q", step.verb, r.body, r.header.Get("Location"))
		}
		if n := c.settle(id); n.ProvisionState != step.ends {
			t.Fatalf("after %s the node is %q: %s", step.verb, n.ProvisionState, n.LastError)
		}
	}
	c.must(http.StatusAccepted, 82, "PUT", "/v1/nodes/n1/states/power", `{"target":"power on"}`)
	if n := c.settle(id); n.PowerState != node.PowerOn {
		t.Errorf("power is %q", n.PowerState)
	}
	if doc := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1/history", "").doc(t); len(doc["history"].([]any)) == 0 {
		t.Error("a life without history")
	}
	if doc := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1/history/detail?limit=1", "").doc(
		t); doc["history"].([]any)[0].(map[string]any)["conductor"] != "conductor-1" {
		t.Errorf("history in detail: %v", doc)
	}
	if doc := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/nodes/n1/status", "").doc(t); doc["state"] != "manageable" ||
		doc["power_read_at"] == nil {
		t.Errorf("status: %v", doc)
	}
	c.must(http.StatusNoContent, 82, "DELETE", "/v1/nodes/n1", "")
	c.must(http.StatusNotFound, 82, "GET", "/v1/nodes/n1", "")
	if strings.Contains(c.Log.String(), "level=ERROR") {
		t.Errorf("log has errors:\n%s", c.Log)
	}
}

// A node in use keeps its interfaces, until it is in maintenance.
func TestInterfacesInUse(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"name":"n1","driver":"fake-hardware"}`)
	c.provision("n1", "manage", "adopt")
	patch := `[{"op":"replace","path":"/boot_interface","value":"ipxe"}]`
	got := c.must(http.StatusConflict, 82, "PATCH", "/v1/nodes/n1", patch)
	if want := "can not have boot_interface updated unless it is in one of allowed (enroll, inspecting, inspect wait, " +
		"manageable, available) states or in maintenance mode."; !strings.Contains(got.text(), want) {
		t.Errorf("it is answered %q, want %q", got.text(), want)
	}
	c.must(http.StatusOK, 82, "PATCH", "/v1/nodes/n1",
		strings.Replace(patch, "[", `[{"op":"replace","path":"/maintenance","value":true},`, 1))
}
