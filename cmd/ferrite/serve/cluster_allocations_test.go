package serve

import (
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
)

// TestAllocationsOfGroups: an allocation has a node of any conductor group, and is answered by any conductor. An
// allocation that no node suits fails at once. A leader without a suitable node in its own group fails none.
func TestAllocationsOfGroups(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	near := startMember(t, "near", database, key)
	ready(t, near)
	rack := startMember(t, "rack", database, key, "--group", "rack-a")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("near:\n%s\nrack:\n%s", near.Log, rack.Log)
		}
	})
	ready(t, rack)
	for name, of := range map[string]map[string]any{
		"n1": {"resource_class": "plain", "conductor_group": ""},
		"n2": {"resource_class": "gpu", "conductor_group": "rack-a"},
	} {
		of["driver"], of["name"] = "fake-hardware", name
		near.Call(t, "POST", "/v1/nodes", of, http.StatusCreated)
		for _, step := range [][2]string{{"manage", "manageable"}, {"provide", "available"}} {
			near.Call(t, "PUT", "/v1/nodes/"+name+"/states/provision", map[string]any{"target": step[0]}, http.StatusAccepted)
			near.Until(t, name, step[1])
		}
		near.Call(t, "PUT", "/v1/nodes/"+name+"/states/power", map[string]any{"target": "power off"}, http.StatusAccepted)
		for end := time.Now().Add(servetest.Patience); ; time.Sleep(20 * time.Millisecond) {
			got := near.Call(t, "GET", "/v1/nodes/"+name, nil, http.StatusOK)
			if got["power_state"] == "power off" && got["reservation"] == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the node is %v", got)
			}
		}
	}
	settled := func(name, state string) map[string]any {
		t.Helper()
		for end := time.Now().Add(servetest.Patience); ; time.Sleep(50 * time.Millisecond) {
			got := rack.Call(t, "GET", "/v1/allocations/"+name, nil, http.StatusOK)
			if got["state"] == state {
				return got
			}
			if got["state"] != "allocating" || time.Now().After(end) {
				t.Fatalf("the allocation is %v, expected %s", got, state)
			}
		}
	}
	for name, class := range map[string]string{"a1": "plain", "a2": "gpu", "a3": "none"} {
		near.Call(t, "POST", "/v1/allocations", map[string]any{"name": name, "resource_class": class}, http.StatusCreated)
	}
	settled("a3", "error")
	for name, node := range map[string]string{"a1": "n1", "a2": "n2"} {
		of := settled(name, "active")
		got := near.Call(t, "GET", "/v1/nodes/"+node, nil, http.StatusOK)
		if of["node_uuid"] != got["uuid"] || got["allocation_uuid"] != of["uuid"] || got["instance_uuid"] != of["uuid"] {
			t.Errorf("the allocation is %v, its node %v", of, got)
		}
	}
	near.Call(t, "DELETE", "/v1/allocations/a2", nil, http.StatusNoContent)
	if got := rack.Call(t, "GET", "/v1/nodes/n2", nil, http.StatusOK); got["instance_uuid"] != nil {
		t.Errorf("the node is still %v", got["instance_uuid"])
	}
	near.Call(t, "PUT", "/v1/nodes/n2/states/provision", map[string]any{"target": "active"}, http.StatusAccepted)
	near.Until(t, "n2", "active")
	near.Call(t, "POST", "/v1/allocations", map[string]any{"name": "a4", "resource_class": "gpu", "node": "n2"},
		http.StatusCreated)
	settled("a4", "active")
	near.End(t)
	rack.End(t)
}
