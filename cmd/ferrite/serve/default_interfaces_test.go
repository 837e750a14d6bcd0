package serve

import (
	"net/http"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// TestDefaultInterfaces: new nodes that name no interface get the conductor's default, which the driver reports.
func TestDefaultInterfaces(t *testing.T) {
	c := servetest.Start(t, Command(), t.TempDir(), "--default-inspect-interface", "agent",
		"--default-rescue-interface=no-rescue")
	defer c.End(t)
	for body, want := range map[string]string{"": "agent", "no-inspect": "no-inspect"} {
		asked := map[string]any{"driver": "fake-hardware"}
		if body != "" {
			asked["inspect_interface"] = body
		}
		n := c.Call(t, "POST", "/v1/nodes", asked, http.StatusCreated)
		if n["inspect_interface"] != want || n["rescue_interface"] != "no-rescue" || n["deploy_interface"] != "fake" {
			t.Errorf("inspect %v, rescue %v, deploy %v; want %s, no-rescue, fake", n["inspect_interface"],
				n["rescue_interface"], n["deploy_interface"], want)
		}
	}
	if d := c.Call(t, "GET", "/v1/drivers/fake-hardware", nil, http.StatusOK); d["default_inspect_interface"] != "agent" {
		t.Errorf("the driver tells %v", d["default_inspect_interface"])
	}
}
