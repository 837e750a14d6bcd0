package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPortVersions: fields of ports and portgroups appear from their
// microversion on, can be asked for from then on, and set.
func TestPortVersions(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`"`)
	for path, fields := range map[string]map[string]int{
		"/v1/ports/" + portA: {
			"internal_info": 18, "pxe_enabled": 19, "local_link_connection": 19, "portgroup_uuid": 24, "physical_network": 34,
			"is_smartnic": 53,
			"name":        88, "description": 97, "vendor": 100, "category": 101, "available_for_dynamic_portgroup": 111,
		},
		groups + "/ga": {"physical_network": 102, "category": 103, "dynamic_portgroup": 111},
	} {
		for name, since := range fields {
			for minor, want := range map[int]bool{since - 1: false, since: true, 115: true} {
				if _, got := c.must(http.StatusOK, minor, "GET", path, "").doc(t)[name]; got != want {
					t.Errorf("%s of %s at 1.%d: shown %v, want %v", name, path, minor, got, want)
				}
				status := map[bool]int{true: http.StatusOK, false: http.StatusNotAcceptable}[want]
				if r := c.do(minor, "GET", path+"?fields="+name, ""); r.status != status {
					t.Errorf("?fields=%s of %s at 1.%d: status %d, want %d", name, path, minor, r.status, status)
				}
			}
		}
	}
	doc := c.must(http.StatusOK, 115, "PATCH", "/v1/ports/"+portA,
		`[{"op":"add","path":"/name","value":"eth0"},{"op":"add","path":"/description","value":"Left"},{"op":"add","path":"/vendor","value":"v"},
		{"op":"add","path":"/category","value":"c"},{"op":"add","path":"/physical_network","value":"p"}
		,{"op":"replace","path":"/available_for_dynamic_portgroup","value":false},
		{"op":"replace","path":"/is_smartnic","value":true},{"op":"replace","path":"/pxe_enabled","value":false},{"op":"add","path":"/local_link_connection","value":{"port_id":"1","hostname":"h"}}]`).doc(t)
	for _, key := range []string{"links", "created_at", "updated_at"} {
		delete(doc, key)
	}
	want := map[string]any{
		"uuid": portA, "address": "52:54:00:00:00:01", "node_uuid": nodeA, "name": "eth0", "description": "Left",
		"vendor": "v", "category": "c", "physical_network": "p",
		"available_for_dynamic_portgroup": false, "is_smartnic": true, "pxe_enabled": false,
		"local_link_connection": map[string]any{"port_id": "1", "hostname": "h"},
		"extra":                 map[string]any{}, "internal_info": map[string]any{}, "portgroup_uuid": nil,
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Errorf("patched (-want +got):\n%s", diff)
	}
	c.must(http.StatusOK, 88, "GET", "/v1/ports/eth0", "")
	c.must(http.StatusNoContent, 88, "DELETE", "/v1/ports/eth0", "")
	c.must(http.StatusNotFound, 88, "GET", "/v1/ports/eth0", "")
}

// TestPortLinks: where a port is plugged in has one of Ironic's forms.
func TestPortLinks(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`"`)
	set := func(link string) string {
		return `[{"op":"add","path":"/local_link_connection","value":` + link + `}]`
	}
	const path, vtep = "/v1/ports/" + portA, `{"port_id":"1","vtep-logical-switch":"l","vtep-physical-switch":"p"}`
	for sent, shown := range map[string]any{
		`{}`:   map[string]any{},
		`null`: map[string]any{},
		`{"switch_id":"0A:1B:2C:3D:4E:5F","port_id":"Eth1","switch_info":"sw"}`: map[string]any{
			"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Eth1", "switch_info": "sw",
		},
		`{"switch_id":"000000000000ABCD","port_id":"1"}`: map[string]any{
			"switch_id": "000000000000abcd", "port_id": "1",
		},
		`{"hostname":"h","port_id":"1"}`: map[string]any{"hostname": "h",
			"port_id": "1"},
		`{"network_type":"unmanaged"}`: map[string]any{"network_type": "unmanaged"},
		vtep: map[string]any{"port_id": "1",
			"vtep-logical-switch": "l", "vtep-physical-switch": "p"},
	} {
		doc := c.must(http.StatusOK, 104, "PATCH", path, set(sent)).doc(t)
		if diff := cmp.Diff(shown, doc["local_link_connection"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sent, diff)
		}
	}
	c.must(http.StatusOK, 104, "PATCH", path, set(vtep))
	for minor, keys := range map[int]int{89: 0, 90: 3, 104: 3, 105: 0} {
		if got, _ := c.must(http.StatusOK, minor, "GET", path, "").doc(t)["local_link_connection"].(map[string]any); len(
			got) != keys {
			t.Errorf("OVN's switch at 1.%d: %v", minor, got)
		}
	}
	wrong := func(link, text string) refusal {
		return refusal{104, "PATCH", path, set(link), 400, text}
	}
	const schema = "is not valid under any of the given schemas. Possible root cause: "
	c.refuses(t, []refusal{
		wrong(`{"port_id":"1"}`, schema+"'switch_id' is a required property"),
		wrong(`{"switch_id":"0a:1b:2c:3d:4e:5f"}`, schema+"'port_id' is a required property"),
		wrong(`{"network_type":"managed"}`, schema+"'port_id' is a required property"),
		wrong(`{"network_type":"other"}`, schema+"'other' is not one of ['managed', 'unmanaged']"),
		wrong(`{"port_id":1,"hostname":"h"}`, schema+"1 is not of type 'string'"),
		wrong(`{"port_id":"1","hostname":"h","speed":"1"}`,
			schema+"Additional properties are not allowed ('speed' was unexpected)"),
		wrong(`{"port_id":"1","hostname":"h","vtep-logical-switch":"l"}`,
			schema+"'vtep-logical-switch' and 'vtep-physical-switch' depend on each other"),
		wrong(`{"port_id":"1","switch_id":"sw"}`, "Expected a MAC address or OpenFlow datapath ID but received sw."),
		wrong(`"x"`, "'x' is not of type"),
		{63, "PATCH", path, set(`{"network_type":"unmanaged"}`), 406, "not acceptable"},
		{89, "PATCH", path, set(vtep), 406, "not acceptable"},
		{105, "PATCH", path, set(vtep), 406, "not acceptable"},
		{63, "POST", "/v1/ports", `{"address":"52:54:00:00:00:09","node_uuid":"` + nodeA +
			`","local_link_connection":{"network_type":"unmanaged"}}`, 406, "not acceptable"},
	})
}

func TestPortRefusals(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`","portgroup_uuid":"`+groupA+`","name":"eth0"`)
	post := func(more string, status int, text string) refusal {
		return refusal{115, "POST", "/v1/ports", `{"address":"52:54:00:00:00:09",` + more + `}`, status, text}
	}
	ofA, ofB := `"node_uuid":"`+nodeA+`"`, `"node_uuid":"`+nodeB+`"`
	patch := func(minor int, op string, status int, text string) refusal {
		return refusal{minor, "PATCH", "/v1/ports/" + portA, "[" + op + "]", status, text}
	}
	c.refuses(t, []refusal{
		post(ofA+`,"name":"eth0"`, 409, "A port with name eth0 already exists."),
		post(ofA+`,"portgroup_uuid":"`+nowhere+`"`, 400, "Portgroup "+nowhere+" could not be found."),
		post(ofA+`,"portgroup_uuid":"`+groupB+`"`, 400,
			"Port can not be added to a portgroup belonging to a different node."),
		post(ofB+`,"portgroup_uuid":"`+groupB+`"`, 409,
			"Port group "+groupB+" doesn't support standalone ports. This port cannot be created"),
		post(ofB+`,"portgroup_uuid":"`+groupB+`","pxe_enabled":false,"physical_network":"px"`, 409,
			"Port with physical network px cannot become a member of port group "+groupB+
				" which has ports in physical network pb."),
		post(ofA+`,"is_smartnic":true`, 400, "Smart NIC port must have port_id and hostname in local_link_connection"),
		post(ofA+`,"physical_network":""`, 400, "A non-empty value is required when setting physical_network"),
		post(ofA+`,"physical_network":"`+strings.Repeat("p", 65)+`"`, 400, "is too long"),
		post(ofA+`,"vendor":"`+strings.Repeat("v", 33)+`"`, 400, "is too long"),
		post(ofA+`,"available_for_dynamic_portgroup":"perhaps"`, 400, "Unrecognized value"),
		patch(115, `{"op":"replace","path":"/physical_network","value":"p"}`, 400,
			"physical_network cannot be changed while the port belongs to a portgroup."),
		patch(115, `{"op":"replace","path":"/portgroup_uuid","value":"`+groupB+`"}`, 400,
			"Port can not be added to a portgroup belonging to a different node."),
		patch(115, `{"op":"replace","path":"/portgroup_uuid","value":"`+nowhere+`"}`, 400,
			"Portgroup "+nowhere+" could not be found."),
		patch(115, `{"op":"replace","path":"/node_uuid","value":"`+nowhere+`"}`, 400, "Node "+nowhere+" could not be found."),
		patch(115, `{"op":"remove","path":"/node_uuid"}`, 400, "'node_uuid' is a required property"),
		patch(23, `{"op":"remove","path":"/portgroup_uuid"}`, 406, "not acceptable"),
		{87, "GET", "/v1/ports/eth0", "", 400, "Expected UUID for port_uuid: eth0"},
		{115, "GET", "/v1/ports/nobody", "", 404, "Port nobody could not be found."},
		{115, "GET", "/v1/ports/52:54:00:00:00:01", "", 400, "Expected UUID or name for port_ident: 52:54:00:00:00:01"},
		{23, "GET", "/v1/ports?portgroup=ga", "", 406, "should be 1.24"},
		{81, "GET", "/v1/ports?shard=s1", "", 406, "should be 1.82"},
		{96, "GET", "/v1/ports?description_contains=x", "", 406, "should be 1.97"},
		{98, "GET", "/v1/ports?conductor_groups=x", "", 406, "should be 1.99"},
		{115, "GET", "/v1/ports?portgroup=nobody", "", 404, "Portgroup nobody could not be found."},
		{115, "GET", "/v1/ports?portgroup=a%20b", "", 400, "Expected UUID or name for portgroup: a b"},
		{115, "GET", "/v1/ports?portgroup=ga&node=a", "", 403, "Operation not permitted."},
		{115, "GET", "/v1/ports?conductor_groups=x&node=a", "", 400, "cannot be combined"},
		{115, "GET", "/v1/ports?sort_key=local_link_connection", "", 400, "invalid field for sorting"},
		{115, "GET", groups + "/ga/ports?node=a", "", 400, "Unexpected arguments: node"},
	})
}

func TestPortLists(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"node_uuid":"`+nodeA+`","name":"p1","portgroup_uuid":"`+groupA+`","description":"Left One"`)
	c.addPort(2, `"node_uuid":"`+nodeA+`","name":"p2","description":"left two"`)
	c.addPort(3, `"node_uuid":"`+nodeB+`","name":"p3"`)
	for query, want := range map[string]string{
		"fields=name": "p1 p2 p3",
		"fields=name&limit=1&sort_key=name&sort_dir=desc":          "p3 p2 p1",
		"fields=name&limit=1&portgroup=ga":                         "p1",
		"fields=name&portgroup=" + groupB:                          "",
		"fields=name&shard=s1,s2&limit=1":                          "p1 p2",
		"fields=name&shard=s2":                                     "",
		"fields=name&description_contains=LEFT":                    "p1 p2",
		"fields=name&description_contains=left&node=b":             "",
		"fields=name&description_contains=two&portgroup=ga":        "",
		"fields=name&description_contains=two&sort_key=name":       "p2",
		"fields=name&conductor_groups=":                            "p1 p2 p3",
		"fields=name&conductor_groups=x":                           "",
		"detail=True&node=b":                                       "p3",
		"fields=name&address=52:54:00:00:00:02&node_uuid=" + nodeA: "p2",
	} {
		if got := strings.Join(c.names(t, 115, "ports", query), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for path, want := range map[string]int{
		"/v1/ports/detail?portgroup=ga": 1, "/v1/nodes/a/ports": 2, "/v1/nodes/a/ports/detail": 2, groups + "/ga/ports": 1,
		groups + "/gb/ports/detail": 0,
	} {
		ports := c.must(http.StatusOK, 115, "GET", path, "").doc(t)["ports"].([]any)
		if len(ports) != want {
			t.Errorf("%s: %d ports, want %d", path, len(ports), want)
		}
	}
}
