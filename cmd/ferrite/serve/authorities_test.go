package serve

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestAuthorities: a node names certificates inside --ca-folder or gives them itself. Any other path is neither read
// nor reported, and harms the node alone.
func TestAuthorities(t *testing.T) {
	chain, _ := certtest.New(t).Server("127.0.0.1")
	folder, dir := t.TempDir(), filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), chain, 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir, "--ca-folder", folder)
	create := func(name string, verify any, want int) {
		info := map[string]any{"redfish_address": "https://192.0.2.1/" + name, "redfish_verify_ca": verify}
		c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": name, "driver_info": info}, want)
	}
	for name, verify := range map[string]any{"boolean": false, "inside": folder + "/ca.pem", "inline": string(chain),
		"zero": "/dev/zero", "there": "/etc/passwd", "none": "/etc/none"} {
		create(name, verify, http.StatusCreated)
	}
	create("number", 7, http.StatusBadRequest)
	create("text", "-----BEGIN nonsense", http.StatusBadRequest)
	patch := []map[string]any{{"op": "add", "path": "/driver_info/agent_verify_ca", "value": "-----BEGIN nonsense"}}
	c.Call(t, "PATCH", "/v1/nodes/boolean", patch, http.StatusBadRequest)

	closed := "driver_info: redfish_verify_ca " + cacert.ErrNotOpen.Error()
	for name, want := range map[string]string{"boolean": "", "inside": "", "inline": "", "zero": closed, "there": closed,
		"none": closed} {
		power, _ := c.Call(t, "GET", "/v1/nodes/"+name+"/validate", nil, 200)["power"].(map[string]any)
		if power["result"] != (want == "") || want != "" && power["reason"] != want {
			t.Errorf("validate %s: %v, want %q", name, power, want)
		}
	}
	c.Call(t, "PUT", "/v1/nodes/zero/states/provision", map[string]any{"target": "manage"}, http.StatusAccepted)
	if n := c.Until(t, "zero", "enroll"); !strings.Contains(fmt.Sprint(n["last_error"]), closed) {
		t.Errorf("last_error %v, want %s", n["last_error"], closed)
	}
	c.End(t)

	c = start(t, dir) // an upgrade: nodes name files that are no longer allowed
	defer c.End(t)
	for _, want := range []string{"nodes name CA certificates that cannot be read", "count=4",
		"inside (redfish_verify_ca)", "zero (redfish_verify_ca)"} {
		c.Says(t, want) // beside the start
	}
	edit := []map[string]any{{"op": "add", "path": "/extra/a", "value": 1}}
	if n := c.Call(t, "PATCH", "/v1/nodes/inside", edit, 200); n["provision_state"] != "enroll" ||
		n["maintenance"] != false {
		t.Errorf("the node is %v, maintenance %v", n["provision_state"], n["maintenance"])
	}
}

// TestTwoNodesOfOneBMC are found at the start, should an earlier release have accepted both, or a request with force.
func TestTwoNodesOfOneBMC(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := start(t, dir)
	create := func(name, address string) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.URL+"/v1/nodes", strings.NewReader(fmt.Sprintf(
			`{"driver": "redfish", "name": %q, "driver_info": {"redfish_address": %q}}`, name, address)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(nodeapi.HeaderVersion, "1.80")
		r.Header.Set(nodeapi.HeaderForce, "true")
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("create %s: %v, %v", name, res, err)
		}
	}
	create("web", "https://192.0.2.1")
	create("web-again", "192.0.2.1:443/")
	create("other", "https://192.0.2.2")
	c.End(t)

	c = start(t, dir)
	defer c.End(t)
	want := "nodes name the BMC and system of another node"
	c.Says(t, want)
	if log := c.Log.String(); !strings.Contains(log, "count=1") ||
		strings.Contains(log, "other (") {
		t.Errorf("the log says:\n%s", log)
	}
}
