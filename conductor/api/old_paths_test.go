package api_test

import (
	"net/http"
	"testing"
)

// TestOldPaths asks in the spelling of Ironic's first releases and in today's:
// the answers are the same.
func TestOldPaths(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	for _, p := range []struct{ method, today, named, asked, body string }{
		{"GET", "/v1/nodes/n1/states", "/v1/nodes/states/n1", "/v1/nodes/states?node_ident=n1", ""},
		{"GET", "/v1/nodes/n1/states/console", "/v1/nodes/states/console/n1", "/v1/nodes/states/console?node_ident=n1", ""},
		{"PUT", "/v1/nodes/n1/states/console?enabled=false", "/v1/nodes/states/console/n1?enabled=false",
			"/v1/nodes/states/console?enabled=false&node_ident=n1", ""},
		{"PUT", "/v1/nodes/n1/states/power", "/v1/nodes/states/power/n1", "/v1/nodes/states/power?node_ident=n1",
			`{"target":"power on"}`},
		{"PUT", "/v1/nodes/n1/states/provision", "/v1/nodes/states/provision/n1", "/v1/nodes/states/provision?node_ident=n1",
			`{"target":"bogus"}`},
		{"PUT", "/v1/nodes/n1/states/raid", "/v1/nodes/states/raid/n1", "/v1/nodes/states/raid?node_ident=n1", `{}`},
		{"PUT", "/v1/nodes/n1/states/boot_mode", "/v1/nodes/states/boot_mode/n1", "/v1/nodes/states/boot_mode?node_ident=n1",
			`{"target":"uefi"}`},
		{"PUT", "/v1/nodes/n1/states/secure_boot", "/v1/nodes/states/secure_boot/n1",
			"/v1/nodes/states/secure_boot?node_ident=n1", `{"target":"x"}`},
		{"GET", "/v1/nodes/n1/management/boot_device", "/v1/nodes/management/boot_device/n1",
			"/v1/nodes/management/boot_device?node_ident=n1", ""},
		{"GET", "/v1/nodes/n1/management/boot_device/supported", "",
			"/v1/nodes/management/boot_device/supported?node_ident=n1", ""},
		{"PUT", "/v1/nodes/n1/management/boot_device", "/v1/nodes/management/boot_device/n1",
			"/v1/nodes/management/boot_device?node_ident=n1", `{"boot_device":"pxe"}`},
		{"PUT", "/v1/nodes/n1/management/inject_nmi", "/v1/nodes/management/inject_nmi/n1",
			"/v1/nodes/management/inject_nmi?node_ident=n1", `{}`},
		{"GET", "/v1/nodes/n1/management/indicators", "/v1/nodes/management/indicators/n1",
			"/v1/nodes/management/indicators?node_ident=n1", ""},
		{"GET", "/v1/nodes/n1/management/indicators/led@system", "/v1/nodes/management/indicators/n1/led@system", "", ""},
		{"PUT", "/v1/nodes/n1/maintenance", "/v1/nodes/maintenance/n1", "/v1/nodes/maintenance?node_ident=n1",
			`{"reason":"x"}`},
		{"DELETE", "/v1/nodes/n1/maintenance", "/v1/nodes/maintenance/n1", "/v1/nodes/maintenance?node_ident=n1", ""},
		{"GET", "/v1/nodes/n1/vendor_passthru/methods", "", "/v1/nodes/vendor_passthru/methods?node_ident=n1", ""},
		{"POST", "/v1/nodes/n1/vendor_passthru/nope", "/v1/nodes/vendor_passthru/n1/nope",
			"/v1/nodes/vendor_passthru?method=nope&node_ident=n1", `{"bar":"bar"}`},
		{"PATCH", "/v1/nodes/n1", "", "/v1/nodes?node_ident=n1", `[]`},
		{"PATCH", "/v1/nodes/nobody", "", "/v1/nodes?node_ident=nobody", `[]`},
		{"DELETE", "/v1/nodes/nobody", "", "/v1/nodes?node_ident=nobody", ""},
		{"GET", "/v1/drivers/fake-hardware/properties", "", "/v1/drivers/properties?driver_name=fake-hardware", ""},
		{"GET", "/v1/drivers/fake-hardware/raid/logical_disk_properties", "",
			"/v1/drivers/raid/logical_disk_properties?driver_name=fake-hardware", ""},
		{"GET", "/v1/drivers/fake-hardware/vendor_passthru/methods", "",
			"/v1/drivers/vendor_passthru/methods?driver_name=fake-hardware", ""},
		{"DELETE", "/v1/ports/" + fuzzNode, "", "/v1/ports?port_ident=" + fuzzNode, ""},
		{"PATCH", "/v1/ports/" + fuzzNode, "", "/v1/ports?port_ident=" + fuzzNode, `[]`},
		{"PATCH", "/v1/portgroups/nobody", "", "/v1/portgroups?portgroup_ident=nobody", `[]`},
		{"DELETE", "/v1/chassis/" + fuzzNode, "", "/v1/chassis?chassis_uuid=" + fuzzNode, ""},
		{"DELETE", "/v1/volume/connectors/" + fuzzNode, "", "/v1/volume/connectors?connector_uuid=" + fuzzNode, ""},
		{"PATCH", "/v1/volume/targets/" + fuzzNode, "", "/v1/volume/targets?target_uuid=" + fuzzNode, `[]`},
		{"DELETE", "/v1/allocations/nobody", "", "/v1/allocations?allocation_ident=nobody", ""},
		{"PATCH", "/v1/deploy_templates/nobody", "", "/v1/deploy_templates?template_ident=nobody", `[]`},
		{"PUT", "/v1/nodes/nobody/states/power", "/v1/nodes/states/power/nobody", "/v1/nodes/states/power?node_ident=nobody",
			`{"target":"power on"}`},
	} {
		want := c.do(82, p.method, p.today, p.body)
		c.settle("n1")
		for _, old := range []string{p.named, p.asked} {
			if old == "" {
				continue
			}
			got := c.do(82, p.method, old, p.body)
			c.settle("n1")
			if p.method == "PATCH" && want.status == http.StatusOK && got.status == want.status {
				continue // but for the time of the change
			}
			if got.status != want.status || got.body != want.body || got.header.Get("Location") != want.header.Get("Location") {
				t.Errorf("%s %s: %d %s, and as %s: %d %s", p.method, old, got.status, got.body, p.today, want.status, want.body)
			}
		}
	}
	for _, bad := range []string{
		"/v1/nodes/states", "/v1/nodes/states?node_ident=", "/v1/nodes/states?node_ident=n1&node_ident=n2",
		"/v1/nodes/states?node_ident=../n1", "/v1/nodes/states?node_ident=n1/states",
	} {
		if r := c.do(82, "GET", bad, ""); r.status < 400 || r.status >= 500 {
			t.Errorf("GET %s: %d %s", bad, r.status, r.body)
		}
	}
}
