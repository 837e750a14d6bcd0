package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestNoopDeploy: a machine that runs becomes active and available again, and its power is left alone.
func TestNoopDeploy(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","deploy_interface":"noop","automated_clean":true}`)
	c.provision("n1", "manage")
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/n1/states/power", `{"target":"power on"}`)
	c.settle("n1")
	if v := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").body; !strings.Contains(v,
		`"deploy":{"result":true}`) {
		t.Errorf("validate says %s", v)
	}
	for _, step := range []struct{ verb, state string }{{"provide", "available"}, {"active", "active"},
		{"rebuild", "active"}, {"deleted", "available"}} {
		if n := c.provision("n1", step.verb); string(n.ProvisionState) != step.state || n.PowerState != "power on" {
			t.Fatalf("after %s the node is %s with %s: %s", step.verb, n.ProvisionState, n.PowerState, n.LastError)
		}
	}
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"ipmi","name":"n2","deploy_interface":"noop"}`)
}

// TestAutodetectDeploy: the record has the found interface while the instance runs, and validate reports it before.
func TestAutodetectDeploy(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","deploy_interface":"autodetect","automated_clean":false}`)
	c.provision("n1", "manage", "provide")
	valid := func(want string) {
		t.Helper()
		if v := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").body; !strings.Contains(v, want) {
			t.Errorf("validate says %s, want %s", v, want)
		}
	}
	valid(`"deploy":{"result":false,"reason":"deploy interface autodetect finds direct by instance_info: node`)
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"add","path":"/instance_info/boot_iso","value":"http://images/live.iso"}]`)
	valid(`"deploy":{"result":true,"reason":"autodetect finds ramdisk by instance_info"}`)
	if n := c.provision("n1", "active"); n.ProvisionState != "active" || n.Interfaces["deploy"] != "ramdisk" ||
		n.DriverInternalInfo["original_deploy_interface"] != "autodetect" {
		t.Fatalf("the node is %s with %v: %s", n.ProvisionState, n.Interfaces, n.LastError)
	}
	if n := c.provision("n1", "deleted"); n.Interfaces["deploy"] != "autodetect" ||
		n.DriverInternalInfo["original_deploy_interface"] != nil {
		t.Errorf("after the undeploy: %v, %v", n.Interfaces, n.DriverInternalInfo)
	}
	// An operator's choice while the instance runs stays.
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"add","path":"/instance_info/boot_iso","value":"http://images/live.iso"}]`)
	c.provision("n1", "active")
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/n1/maintenance", "")
	c.must(http.StatusOK, 115, "PATCH", "/v1/nodes/n1",
		`[{"op":"replace","path":"/deploy_interface","value":"custom-agent"}]`)
	c.must(http.StatusAccepted, 115, "DELETE", "/v1/nodes/n1/maintenance", "")
	if n := c.provision("n1", "deleted"); n.Interfaces["deploy"] != "custom-agent" {
		t.Errorf("after the undeploy: %v", n.Interfaces)
	}
}
