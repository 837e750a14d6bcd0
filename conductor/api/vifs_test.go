package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVIFsGo: the VIFs of an instance end with it.
func TestVIFsGo(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`","portgroup_uuid":"`+groupA+`"`)
	c.addPort(2, `"uuid":"`+portB+`","node_uuid":"`+nodeA+`","pxe_enabled":false`)
	c.provision("a", "manage", "provide")
	for _, id := range []string{"v1", "v2"} {
		c.must(http.StatusNoContent, 28, "POST", "/v1/nodes/a/vifs", `{"id":"`+id+`"}`)
	}
	c.provision("a", "active", "deleted")
	if got := c.must(http.StatusOK, 28, "GET", "/v1/nodes/a/vifs", "").doc(t)["vifs"]; len(
		got.([]any)) != 0 { //nolint:forcetypeassert // a list, or no answer
		t.Errorf("after the instance there are %v", got)
	}
}

// TestVIFs attaches virtual interfaces to free ports and portgroups, portgroups first.
func TestVIFs(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`","portgroup_uuid":"`+groupA+`"`)
	c.addPort(2, `"uuid":"`+portB+`","node_uuid":"`+nodeA+`","pxe_enabled":false`)
	const vifs = "/v1/nodes/a/vifs"
	attached := func(want ...string) {
		t.Helper()
		list := []any{}
		for _, id := range want {
			list = append(list, map[string]any{"id": id})
		}
		if diff := cmp.Diff(list, c.must(http.StatusOK, 28, "GET", vifs, "").doc(t)["vifs"]); diff != "" {
			t.Errorf("attached (-want +got):\n%s", diff)
		}
	}
	info := func(path string) any { return c.must(http.StatusOK, 115, "GET", path, "").doc(t)["internal_info"] }

	attached()
	c.must(http.StatusNoContent, 28, "POST", vifs, `{"id":"v1"}`)
	c.must(http.StatusNoContent, 67, "POST", vifs, `{"id":"v2","port_uuid":"`+portB+`","more":1}`)
	attached("v2", "v1")
	for path, id := range map[string]string{groups + "/ga": "v1", "/v1/ports/" + portB: "v2"} {
		if diff := cmp.Diff(map[string]any{"tenant_vif_port_id": id}, info(path)); diff != "" {
			t.Errorf("internal_info of %s (-want +got):\n%s", path, diff)
		}
	}
	post := func(body string, status int, text string) refusal {
		return refusal{115, "POST", vifs, body, status, text}
	}
	c.refuses(t, []refusal{
		{27, "GET", vifs, "", 404, ""},
		{27, "POST", vifs, `{"id":"v3"}`, 404, ""},
		post(`{"id":"v3"}`, 400, "Unable to attach VIF v3, not enough free physical ports."),
		post(`{"id":"v1"}`, 409, "Unable to attach VIF because VIF v1 is already attached to Ironic Portgroup "+groupA),
		post(`{"id":"v2"}`, 409, "Unable to attach VIF because VIF v2 is already attached to Ironic Port "+portB),
		post(`{"id":"v3","port_uuid":"`+nowhere+`"}`, 400, "Unable to attach VIF v3, not enough free physical ports."),
		post(`{"id":"v3","port_uuid":"`+portA+`","portgroup_uuid":"`+groupA+`"}`, 400,
			"Cannot specify both port_uuid and portgroup_uuid"),
		post(`{"id":"v3","port_uuid":"x"}`, 400, "Expected UUID for port_uuid: x"),
		post(`{"id":"v3","portgroup_uuid":7}`, 400, "Schema error for vif: 7 is not of type"),
		post(`{"id":"a b"}`, 400, "Expected UUID or name for id: a b"),
		post(`{"id":null}`, 400, "Schema error for vif: None is not of type 'string'"),
		post(`[]`, 400, "Schema error for vif: [] is not of type 'object'"),
		{115, "DELETE", vifs + "/v3", "", 400,
			"Unable to detach VIF v3 from node " + nodeA + " because it is not attached to it."},
		{115, "DELETE", vifs + "/a%20b", "", 400, "Expected UUID or name for vif_id: a b"},
		{115, "DELETE", "/v1/ports/" + portB, "", 409,
			"Cannot delete the port " + portB + " as it is bound to VIF v2 for use."},
		{115, "GET", "/v1/nodes/nobody/vifs", "", 404, "Node nobody could not be found."},
	})
	c.must(http.StatusNoContent, 115, "DELETE", vifs+"/v1", "")
	c.must(http.StatusNoContent, 115, "DELETE", vifs+"/v2", "")
	attached()
	if diff := cmp.Diff(map[string]any{}, info("/v1/ports/"+portB)); diff != "" {
		t.Errorf("internal_info left (-want +got):\n%s", diff)
	}
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/ports/"+portB, "")

	c.must(http.StatusNoContent, 115, "POST", "/v1/nodes/b/vifs", `{"id":"v1"}`) // noop takes anything
	if list := c.must(http.StatusOK, 115, "GET", "/v1/nodes/b/vifs", "").body; list != `{"vifs":[]}` {
		t.Errorf("noop keeps %s", list)
	}
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/b/vifs/v9", "")
}
