package api_test

import (
	"net/http"
	"testing"
)

// TestSubcollections: writes to a list below another resource are refused, and change nothing.
func TestSubcollections(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1","uuid":"`+fuzzNode+`"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/portgroups", `{"name":"bond","node_uuid":"`+fuzzNode+`"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/chassis", `{"uuid":"`+fuzzNode+`"}`)
	port := c.must(http.StatusCreated, 115, "POST", "/v1/ports", `{"address":"52:54:00:00:00:01","node_uuid":"`+fuzzNode+
		`"}`).doc(t)["uuid"].(string)
	for list, since := range map[string]int{
		"/v1/nodes/n1/ports": 1, "/v1/nodes/n1/portgroups": 24, "/v1/nodes/n1/volume/connectors": 32,
		"/v1/nodes/n1/volume/targets": 32,
		"/v1/portgroups/bond/ports":   24, "/v1/chassis/" + fuzzNode + "/nodes": 1,
	} {
		for path, bodies := range map[string]map[string]string{
			list: {"POST": `{"address":"52:54:00:00:00:02","node_uuid":"` + fuzzNode + `"}`, "PATCH": `[]`,
				"DELETE": ""},
			list + "/" + port: {"GET": "", "PATCH": `[{"op":"add","path":"/extra/x","value":1}]`, "DELETE": ""},
		} {
			for method, body := range bodies {
				for _, minor := range []int{max(since, 5), 115} {
					if r := c.must(http.StatusBadRequest, minor, method, path, body); r.text() != "Malformed request URI." {
						t.Errorf("%s %s: %s", method, path, r.text())
					}
				}
				if since > 5 {
					c.must(http.StatusNotFound, since-1, method, path, body)
				}
			}
		}
	}
	c.must(http.StatusForbidden, 24, "GET", "/v1/nodes/n1/portgroups/bond/ports", "")
	if ports := c.must(http.StatusOK, 115, "GET", "/v1/ports/detail", "").doc(t)["ports"].([]any); len(ports) != 1 ||
		len(ports[0].(map[string]any)["extra"].(map[string]any)) != 0 {
		t.Errorf("the ports are %v", ports)
	}
}
