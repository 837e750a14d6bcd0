package api_test

import (
	"net/http"
	"testing"
)

// TestExistingUUID creates each resource twice with one UUID: the second is
// refused, and the first stays as it was.
func TestExistingUUID(t *testing.T) {
	const (
		of     = "11111111-1111-4111-8111-111111111111"
		other  = "22222222-2222-4222-8222-222222222222"
		id     = "33333333-3333-4333-8333-333333333333"
		target = `"volume_id":"v","volume_type":"iscsi","boot_index":`
		steps  = `"steps":[{"interface":"bios","step":"factory_reset","args":{},`
		rule   = `"actions":[{"op":"fail","args":{"msg":"x"}}],"description":`
	)
	c := newConductor(t)
	for _, uuid := range []string{of, other} {
		c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
			`{"driver":"fake-hardware","resource_class":"x","uuid":"`+uuid+`"}`)
	}
	for _, r := range []struct{ path, first, second, kind string }{
		{"nodes", `"driver":"fake-hardware","name":"a"`, `"driver":"fake-hardware","name":"b"`, "node"},
		{"ports", `"node_uuid":"` + of + `","address":"52:54:00:00:00:01"`,
			`"node_uuid":"` + other + `","address":"52:54:00:00:00:02"`, "port"},
		{"portgroups", `"node_uuid":"` + of + `","name":"a"`, `"node_uuid":"` + other + `","name":"b"`, "portgroup"},
		{"chassis", `"description":"a"`, `"description":"b"`, "chassis"},
		{"volume/connectors", `"node_uuid":"` + of + `","type":"iqn","connector_id":"a"`,
			`"node_uuid":"` + other + `","type":"iqn","connector_id":"b"`, "volume connector"},
		{"volume/targets", `"node_uuid":"` + of + `",` + target + `0`, `"node_uuid":"` + other + `",` + target + `1`,
			"volume target"},
		{"allocations", `"resource_class":"x","name":"a"`, `"resource_class":"x","name":"b"`, "allocation"},
		{"deploy_templates", `"name":"CUSTOM_A",` + steps + `"priority":1}]`, `"name":"CUSTOM_B",` + steps + `"priority":1}]`,
			"deploy template"},
		{"runbooks", `"name":"CUSTOM_A",` + steps + `"order":1}]`, `"name":"CUSTOM_B",` + steps + `"order":1}]`, "runbook"},
		{"inspection_rules", rule + `"a"`, rule + `"b"`, "inspection rule"},
	} {
		t.Run(r.path, func(t *testing.T) {
			c.must(http.StatusCreated, 115, "POST", "/v1/"+r.path, `{"uuid":"`+id+`",`+r.first+`}`)
			if r.path == "allocations" {
				c.allocated(id)
			}
			before := c.must(http.StatusOK, 115, "GET", "/v1/"+r.path+"/"+id, "").body
			got := c.must(http.StatusConflict, 115, "POST", "/v1/"+r.path, `{"uuid":"`+id+`",`+r.second+`}`).text()
			if want := " " + r.kind + " with UUID " + id + " already exists."; got != "A"+want && got != "An"+want {
				t.Errorf("refused as %q, want A%s", got, want)
			}
			if after := c.must(http.StatusOK, 115, "GET", "/v1/"+r.path+"/"+id, "").body; after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}
