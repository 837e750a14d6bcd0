package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLocked: while the conductor works on a node, a change of the node or its parts is refused with the conductor's
// name. Reads are answered. A new portgroup is accepted: it changes no node, in Ironic either.
func TestLocked(t *testing.T) {
	c := newConductor(t)
	made := func(path, body string) string {
		id, _ := c.must(http.StatusCreated, 115, "POST", path, body).doc(t)["uuid"].(string)
		return path + "/" + id
	}
	id := strings.TrimPrefix(made("/v1/nodes",
		`{"driver":"redfish","name":"n1","driver_info":{"redfish_address":"http://h"}}`), "/v1/nodes/")
	port := made("/v1/ports", `{"node_uuid":"`+id+`","address":"52:54:00:00:00:01"}`)
	group := made("/v1/portgroups", `{"node_uuid":"`+id+`"}`)
	connector := made("/v1/volume/connectors", `{"node_uuid":"`+id+`","type":"iqn","connector_id":"iqn.x"}`)
	target := made("/v1/volume/targets", `{"node_uuid":"`+id+`","volume_type":"iscsi","boot_index":0,"volume_id":"v"}`)
	c.must(http.StatusNoContent, 115, "PUT", "/v1/nodes/n1/traits", `{"traits":["CUSTOM_A"]}`)
	release := c.BMC.Hold()
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/n1/states/provision", `{"target":"manage"}`)

	const extra = `[{"op":"add","path":"/extra/z","value":2}]`
	want := "Node " + id + " is locked by host conductor-1, please retry after the current operation is completed."
	for _, call := range [][3]string{
		{"PUT", "/v1/nodes/n1/states/provision", `{"target":"manage"}`},
		{"PUT", "/v1/nodes/n1/states/power", `{"target":"power on"}`},
		{"PUT", "/v1/nodes/n1/states/boot_mode", `{"target":"bios"}`},
		{"PUT", "/v1/nodes/n1/states/secure_boot", `{"target":true}`},
		{"PUT", "/v1/nodes/n1/management/boot_device", `{"boot_device":"pxe"}`},
		{"PUT", "/v1/nodes/n1/management/inject_nmi", `{}`},
		{"PATCH", "/v1/nodes/n1", extra},
		{"DELETE", "/v1/nodes/n1", ""},
		{"PUT", "/v1/nodes/n1/traits", `{"traits":["CUSTOM_B"]}`},
		{"DELETE", "/v1/nodes/n1/traits", ""},
		{"PUT", "/v1/nodes/n1/traits/CUSTOM_B", ""},
		{"DELETE", "/v1/nodes/n1/traits/CUSTOM_A", ""},
		{"POST", "/v1/nodes/n1/vifs", `{"id":"vif"}`},
		{"DELETE", "/v1/nodes/n1/vifs/vif", ""},
		{"POST", "/v1/ports", `{"node_uuid":"` + id + `","address":"52:54:00:00:00:02"}`},
		{"PATCH", port, extra},
		{"DELETE", port, ""},
		{"PATCH", group, extra},
		{"DELETE", group, ""},
		{"PATCH", connector, extra},
		{"DELETE", connector, ""},
		{"PATCH", target, extra},
		{"DELETE", target, ""},
	} {
		if r := c.do(115, call[0], call[1], call[2]); r.status != http.StatusConflict || r.text() != want {
			t.Errorf("%s %s: status %d, %q, want 409, %q", call[0], call[1], r.status, r.text(), want)
		}
	}
	// Maintenance can be set while the BMC is busy.
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/n1/maintenance", `{"reason":"x"}`)
	c.must(http.StatusAccepted, 115, "DELETE", "/v1/nodes/n1/maintenance", "")
	doc := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1?fields=reservation,provision_state,target_provision_state",
		"").doc(t)
	delete(doc, "links")
	if diff := cmp.Diff(map[string]any{"reservation": "conductor-1", "provision_state": "verifying",
		"target_provision_state": "manageable"}, doc); diff != "" {
		t.Errorf("node at work (-want +got):\n%s", diff)
	}
	release()
	c.settle(id)
	if doc := c.must(http.StatusOK, 82, "GET", "/v1/nodes/n1", "").doc(t); doc["reservation"] != nil ||
		doc["provision_state"] != "manageable" {
		t.Errorf("node at rest: reservation %v, state %v", doc["reservation"], doc["provision_state"])
	}
}
