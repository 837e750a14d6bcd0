package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestNodeSteps: the steps of a node come from three sides, and say which.
func TestNodeSteps(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"redfish","name":"n1"}`)
	n, err := c.Engine.Node(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	list := node.AgentSteps{At: at, Versions: map[string]string{"ferrite_hardware_manager": "1.0"}}
	list.Steps = []node.AgentStep{
		{Interface: "deploy", Step: "erase_devices", Priority: 10, Abortable: true,
			Args: map[string]node.StepArg{"dry_run": {Description: "no more than a plan"}}},
	}
	report := node.HardwareReport{AgentSteps: map[node.Framework]node.AgentSteps{node.CleanSteps: list}}
	if _, err := c.Engine.Store.Commit(t.Context(), node.Change{Save: &n, HardwareReport: &report}); err != nil {
		t.Fatal(err)
	}
	r := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/nodes/n1/steps", "")
	var got nodeapi.NodeSteps
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatal(err)
	}
	byName := map[string]nodeapi.NodeStep{}
	for _, s := range got.Steps {
		byName[s.Interface+"."+s.Step] = s
	}
	none := map[string]nodeapi.StepArg{}
	zero := map[string]int{"clean": 0, "deploy": 0, "service": 0}
	want := map[string]nodeapi.NodeStep{
		"bios.factory_reset": {Interface: "bios", Step: "factory_reset", Source: "bmc", Priorities: zero, Args: none},
		"bios.apply_configuration": {Interface: "bios", Step: "apply_configuration", Source: "bmc", Priorities: zero,
			Args: map[string]nodeapi.StepArg{"settings": {Description: "a list of name and value", Required: true}}},
		"power.reboot": {Interface: "power", Step: "reboot", Source: "conductor", Priorities: zero, Args: none},
		"deploy.erase_devices": {Interface: "deploy", Step: "erase_devices", Source: "agent", Abortable: true,
			Priorities: map[string]int{"clean": 0}, // as the operator has it, not as the agent lists it
			Args:       map[string]nodeapi.StepArg{"dry_run": {Description: "no more than a plan"}}},
	}
	for name, w := range want {
		if diff := cmp.Diff(w, byName[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	open := map[string][]string{"deploy": {"deploy", "raid"}, "service": {"deploy", "raid"}}
	if diff := cmp.Diff([]any{map[string]time.Time{"clean": at}, open}, []any{got.AgentListed, got.Open}); diff != "" {
		t.Errorf("listed and open (-want +got):\n%s", diff)
	}
	c.must(http.StatusNotFound, 0, "GET", "/ferrite/v1/nodes/n2/steps", "")
}

// TestStepsRefused: an impossible step is refused at the request, and the node does not change.
func TestStepsRefused(t *testing.T) {
	c := newConductor(t)
	id := managed(t, c, `{"driver":"fake-hardware","name":"n1"}`)
	c.provision(id, "adopt")
	before := c.settle(id)
	for body, want := range map[string]string{
		`"bios","step":"aply_configuration"`:     "(did you mean bios.apply_configuration?); it has: bios.apply_configuration,",
		`"bios","step":"apply_configuration"`:    "needs the argument settings",
		`"management","step":"reset_bmc"`:        "does not support this service step",
		`"deploy","step":"erase_devices"`:        "it erases, and the node has a workload",
		`"power","step":"reboot","args":{"a":1}`: "takes no arguments",
	} {
		r := c.do(115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"service","service_steps":[{"interface":`+body+`}]}`)
		if r.status != http.StatusBadRequest || !strings.Contains(r.text(), want) || !strings.Contains(r.text(), "n1") &&
			!strings.Contains(r.text(), id) && !strings.Contains(want, "arguments") {
			t.Errorf("%s: %d %s, expected 400 with %q", body, r.status, r.body, want)
		}
	}
	if after := c.settle(id); after.Revision != before.Revision || after.ProvisionState != node.Active {
		t.Errorf("revision %d became %d, state %q", before.Revision, after.Revision, after.ProvisionState)
	}
}
