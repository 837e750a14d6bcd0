package cluster

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGroupOf: whose request it is.
func TestGroupOf(t *testing.T) {
	r := newRows()
	r.groups = map[string]string{"n1": "a", "52:54:00:00:00:01": "b", "alloc": "c"}
	for _, tc := range []struct{ method, path, body, want string }{
		{"GET", "/v1/nodes", "", ""},
		{"GET", "/v1/nodes/detail", "", ""},
		{"GET", "/v1/nodes/n1", "", "a"},
		{"PUT", "/nodes/n1/states/power", "{}", "a"},
		{"GET", "/v1/nodes/unknown", "", ""},
		{"GET", "/ferrite/v1/nodes/n1/status", "", "a"},
		{"GET", "/ferrite/v1/nodes/status", "", ""},
		{"POST", "/v1/heartbeat/n1", "{}", "a"},
		{"GET", "/v1/lookup?addresses=52:54:00:00:00:09,52:54:00:00:00:01", "", "b"},
		{"GET", "/v1/lookup?node_uuid=n1", "", "a"},
		{"PATCH", "/v1/ports/52:54:00:00:00:01", "[]", "b"},
		{"POST", "/v1/nodes", `{"conductor_group": "Rack-B", "driver": "redfish"}`, "rack-b"},
		{"POST", "/v1/nodes", `{"driver": "redfish"}`, ""},
		{"POST", "/v1/nodes", `{"driver`, ""},
		{"POST", "/ferrite/v1/import?conductor_group=Rack-B", `{"node": {}}`, "rack-b"},
		{"POST", "/ferrite/v1/import", `{"node": {}}`, ""},
		{"POST", "/v1/ports", `{"node_uuid": "n1"}`, "a"},
		{"POST", "/v1/volume/targets", `{"node_uuid": "n1"}`, "a"},
		{"POST", "/v1/allocations", `{"node": "n1"}`, "a"},
		{"POST", "/v1/allocations", `{"resource_class": "n1"}`, ""},
		{"DELETE", "/v1/allocations/alloc", "", "c"},
		{"GET", "/v1/allocations/alloc", "", ""},
		{"GET", "/apis/metal3.io/v1alpha1/baremetalhosts", "", ""},
	} {
		q := httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body))
		got, err := groupOf(q, r)
		if err != nil || got != tc.want {
			t.Errorf("%s %s %s: %q, %v, want %q", tc.method, tc.path, tc.body, got, err, tc.want)
		}
		if rest, err := io.ReadAll(q.Body); err != nil || string(rest) != tc.body {
			t.Errorf("%s %s: the body is %q, %v", tc.method, tc.path, rest, err)
		}
	}
}
