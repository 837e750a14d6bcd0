package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// inspectedWith stores the result of an inspection.
func (c *conductor) inspectedWith(ref, inventory, plugin string) {
	c.t.Helper()
	n, err := c.Engine.Node(context.Background(), ref)
	if err != nil {
		c.t.Fatal(err)
	}
	found := node.Inspected{Inventory: json.RawMessage(inventory), PluginData: json.RawMessage(plugin)}
	if _, err := c.Engine.Store.Commit(context.Background(), node.Change{Save: &n, Inspected: &found}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conductor) rootDevice(body string) (w nodeapi.RootDevice) {
	c.t.Helper()
	r := c.must(http.StatusOK, 0, "POST", "/ferrite/v1/nodes/n1/root-device", body)
	if err := json.Unmarshal([]byte(r.body), &w); err != nil {
		c.t.Fatal(err)
	}
	return w
}

func TestRootDevice(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","name":"n1","properties":{"root_device":{"serial":"B"},"skip_block_devices":[{"name":"/dev/sdc"}]}}`)
	path := "/ferrite/v1/nodes/n1/root-device"
	if r := c.do(0, "POST", path, ""); r.status != http.StatusConflict || !strings.Contains(r.text(), "never inspected") ||
		!strings.Contains(r.text(), "verb inspect first") {
		t.Errorf("not inspected: %d %s", r.status, r.body)
	}
	c.inspectedWith("n1", `{"disks":null}`, `{}`)
	if r := c.do(0, "POST", path, ""); r.status != http.StatusConflict ||
		!strings.Contains(r.text(), "inspect_interface to agent") {
		t.Errorf("no disks told: %d %s", r.status, r.body)
	}
	c.inspectedWith("n1",
		`{"disks":[{"name":"/dev/sda","size":9000000000,"serial":"A"},{"name":"/dev/sdb","size":9000000000,"serial":"B"},{"name":"/dev/sdc","size":9000000000}]}`,
		`{"ferrite_skipped_disks":[{"name":"/dev/sr0","reason":"optical drive"}]}`)
	kept := nodeapi.DiskVerdict{Name: "/dev/sdc", Size: 9000000000, Why: "in skip_block_devices, by {name=/dev/sdc}"}
	drive := nodeapi.DiskVerdict{Name: "/dev/sr0", Why: "optical drive"}
	if diff := cmp.Diff(nodeapi.RootDevice{Node: c.settle("n1").UUID, RootDevice: map[string]any{"serial": "B"},
		Disk: "/dev/sdb", Disks: []nodeapi.DiskVerdict{
			{Name: "/dev/sda", Size: 9000000000, Serial: "A", Why: "serial: wanted B, found A"},
			{Name: "/dev/sdb", Size: 9000000000, Serial: "B", Taken: true, Why: "matches all hints"}, kept, drive,
		}}, c.rootDevice("")); diff != "" {
		t.Errorf("the node's own hints:\n%s", diff)
	}
	if w := c.rootDevice(`{"root_device":{"size":">= 8"}}`); w.Disk != "" ||
		!strings.Contains(w.Refusal, "distinguish them by serial=A or serial=B") || len(w.Disks) != 4 {
		t.Errorf("hints that two disks match: %+v", w)
	}
	if w := c.rootDevice(`{"root_device":{}}`); w.Disk != "/dev/sda" || len(w.RootDevice) != 0 {
		t.Errorf("no hints: %+v", w)
	}
	if w := c.rootDevice(`{"root_device":{"serial":"x"}}`); w.Disk != "" ||
		!strings.Contains(w.Refusal, "no suitable disk") {
		t.Errorf("hints that none matches: %+v", w)
	}
	if n := c.settle("n1"); n.Revision != 3 {
		t.Errorf("asking has changed the node: revision %d", n.Revision)
	}
	for body, want := range map[string]string{
		`{"root_device":{"colour":"red"}}`: "hint colour: not known",
		`{"root_device":{"size":"big"}}`:   "not a number of GiB",
		`{"root_device":["serial"]}`:       "is not of type 'object'",
		`{"hints":{}}`:                     "Unexpected arguments: hints",
	} {
		if r := c.do(0, "POST", path, body); r.status != http.StatusBadRequest || !strings.Contains(r.text(), want) {
			t.Errorf("%s: %d %s, want %s", body, r.status, r.body, want)
		}
	}
	c.must(http.StatusNotFound, 0, "POST", "/ferrite/v1/nodes/nobody/root-device", "")
}

// TestWrongHints: wrong hints are accepted, as in Ironic, and refused at the first use.
func TestWrongHints(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","deploy_interface":"direct","automated_clean":false,"name":"n1","properties":{"root_device":{"colour":"red"}},
		"instance_info":{"image_source":"http://h/i","image_checksum":"0000000000000000000000000000000000000000000000000000000000000000"}}`)
	verdict := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/validate", "").doc(t)["deploy"].(map[string]any)
	if reason, _ := verdict["reason"].(string); verdict["result"] != false ||
		!strings.Contains(reason, "root_device hint colour: not known") {
		t.Errorf("validate: %v", verdict)
	}
	c.provision("n1", "manage", "provide")
	if r := c.do(115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"active"}`); r.status != http.StatusBadRequest ||
		!strings.Contains(r.text(), "root device hints are wrong") {
		t.Errorf("deploy: %d %s", r.status, r.body)
	}
}
