package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	groups  = "/v1/portgroups"
	nodeA   = "aaaaaaaa-0000-4000-8000-000000000001"
	nodeB   = "aaaaaaaa-0000-4000-8000-000000000002"
	groupA  = "bbbbbbbb-0000-4000-8000-000000000001"
	groupB  = "bbbbbbbb-0000-4000-8000-000000000002"
	portA   = "cccccccc-0000-4000-8000-000000000001"
	portB   = "cccccccc-0000-4000-8000-000000000002"
	nowhere = "dddddddd-0000-4000-8000-000000000001"
)

// withPorts is a conductor with the nodes a (network interface flat, shard s1)
// and b (noop), each with a portgroup of its own letter.
func withPorts(t *testing.T) *conductor {
	t.Helper()
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"fake-hardware","uuid":"`+nodeA+`","name":"a","shard":"s1","network_interface":"flat"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","uuid":"`+nodeB+`","name":"b"}`)
	c.must(http.StatusCreated, 115, "POST", groups,
		`{"node_uuid":"`+nodeA+`","uuid":"`+groupA+`","name":"ga","address":"52:54:00:00:01:0A"}`)
	c.must(http.StatusCreated, 115, "POST", groups, `{"node_uuid":"`+nodeB+`","uuid":"`+groupB+
		`","name":"gb","mode":"802.3ad","standalone_ports_supported":false,"physical_network":"pb","category":"c"}`)
	return c
}

// addPort adds the n-th port, with more of a body after its MAC.
func (c *conductor) addPort(n int, more string) reply {
	c.t.Helper()
	return c.must(http.StatusCreated, 115, "POST", "/v1/ports",
		fmt.Sprintf(`{"address":"52:54:00:00:00:%02x",%s}`, n, more))
}

func TestPortgroupRefusals(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`","portgroup_uuid":"`+groupA+`"`)
	post := func(body string, status int, text string) refusal {
		return refusal{115, "POST", groups, body, status, text}
	}
	of := `"node_uuid":"` + nodeA + `"`
	patch := func(name, op string, status int, text string) refusal {
		return refusal{115, "PATCH", groups + "/" + name, "[" + op + "]", status, text}
	}
	c.refuses(t, []refusal{
		post(`{"node_uuid":"`+nodeB+`","address":"52:54:00:00:00:01"}`, 409, "MAC address 52:54:00:00:00:01 already exists."),
		{22, "GET", groups, "", 404, "Resource could not be found."},
		{22, "POST", groups, `{` + of + `}`, 404, "Resource could not be found."},
		{23, "GET", groups + "/ga/ports", "", 404, ""},
		{23, "GET", "/v1/nodes/a/portgroups", "", 404, ""},
		{25, "POST", groups, `{` + of + `,"mode":"802.3ad"}`, 406, "not acceptable"},
		{25, "GET", groups + "?fields=mode", "", 406, "not acceptable"},
		{25, "PATCH", groups + "/ga", `[{"op":"add","path":"/properties/a","value":1}]`, 406, "not acceptable"},
		{25, "PATCH", groups + "/ga",
			`[{"op":"add","path":"/mode","value":"802.3ad"},{"op":"add","path":"/extra/a","value":1}]`, 406, "not acceptable"},
		{25, "PATCH", groups + "/ga",
			`[{"op":"add","path":"/extra/a","value":1},{"op":"add","path":"/properties/a","value":1}]`, 200, ""},
		{23, "GET", groups + "/ga?fields=properties", "", 406, "not acceptable"},
		{25, "PATCH", groups + "/ga", `[{"op":"add","path":"/extra/a","value":1},{"op":"add","path":"/uuid","value":"x"}]`,
			400, "Cannot patch /uuid"},
		{42, "GET", groups + "?detail=True", "", 400, "detail"},
		{101, "POST", groups, `{` + of + `,"physical_network":"p"}`, 406, "not acceptable"},
		{105, "GET", groups + "?shard=s1", "", 406, "should be 1.106"},
		{98, "GET", groups + "?conductor_groups=x", "", 406, "should be 1.99"},
		post(`{}`, 400, "Schema error for portgroup: 'node_uuid' is a required property"),
		post(`{"node_uuid":null}`, 400, "Schema error for portgroup: 'node_uuid' is a required property"),
		post(`{"node_uuid":"a"}`, 400, "Expected UUID for node_uuid: a"),
		post(`{"node_uuid":"`+nowhere+`"}`, 400, "Node "+nowhere+" could not be found."),
		post(`{`+of+`,"name":"ga"}`, 409, "A portgroup with name ga already exists."),
		post(`{`+of+`,"address":"52:54:00:00:01:0a"}`, 409, "A portgroup with MAC address 52:54:00:00:01:0a already exists."),
		post(`{`+of+`,"uuid":"`+groupA+`"}`, 409, "A portgroup with UUID "+groupA+" already exists."),
		post(`{`+of+`,"address":"zz"}`, 400, "Expected valid MAC address for address: zz"),
		post(`{`+of+`,"name":"a b"}`, 400, "Cannot create portgroup with invalid name 'a b'"),
		post(`{`+of+`,"bogus":1}`, 400, "Additional properties are not allowed ('bogus' was unexpected)"),
		post(`{`+of+`,"dynamic_portgroup":true}`, 400, "('dynamic_portgroup' was unexpected)"),
		post(`{`+of+`,"physical_network":""}`, 400, "A non-empty value is required when setting physical_network"),
		post(`{`+of+`,"category":"`+strings.Repeat("c", 81)+`"}`, 400, "is too long"),
		post(`{`+of+`,"standalone_ports_supported":"perhaps"}`, 400, "Unrecognized value 'perhaps'"),
		patch("ga", `{"op":"remove","path":"/mode"}`, 400, "'mode' is a mandatory attribute and can not be removed"),
		patch("ga", `{"op":"remove","path":"/node_uuid"}`, 400, "'node_uuid' is a required property"),
		patch("ga", `{"op":"replace","path":"/node_uuid","value":"`+nodeB+`"}`, 400,
			"Portgroup "+groupA+" can not be associated with node "+nodeB+" because there are ports"),
		patch("gb", `{"op":"replace","path":"/node_uuid","value":"`+nowhere+`"}`, 400,
			"Node "+nowhere+" could not be found."),
		patch("ga", `{"op":"replace","path":"/standalone_ports_supported","value":false}`, 409,
			"contains port with 'pxe_enabled' is set to True"),
		patch("ga", `{"op":"replace","path":"/name","value":"gb"}`, 409, "A portgroup with name gb already exists."),
		patch("ga", `{"op":"replace","path":"/uuid","value":"`+nowhere+`"}`, 400,
			"Cannot patch /uuid. Only the following can be updated: address, category, extra, mode, name, node_uuid, "+
				"physical_network, properties, standalone_ports_supported"),
		patch("nobody", `{"op":"add","path":"/extra/a","value":1}`, 404, "Portgroup nobody could not be found."),
		{115, "DELETE", groups + "/ga", "", 400, "Cannot complete the requested action because portgroup " + groupA +
			" contains ports."},
		{115, "DELETE", groups, "", 400, "Missing mandatory parameter: portgroup_ident"},
		{115, "GET", groups + "?node=a&shard=s", "", 400, "simultaneously is not supported"},
		{115, "GET", groups + "?shard=s&address=52:54:00:00:01:0a", "", 400, "simultaneously is not supported"},
		{115, "GET", groups + "?shard=s&conductor_groups=g", "", 400, "simultaneously is not supported"},
		{115, "GET", groups + "?node=nobody", "", 404, "Node nobody could not be found."},
		{115, "GET", groups + "?node=a%20b", "", 400, "Expected UUID or name for node: a b"},
		{115, "GET", groups + "?address=zz", "", 400, "Expected valid MAC address for address: zz"},
		{115, "GET", groups + "?marker=" + nowhere, "", 404, "could not be found"},
		{115, "GET", groups + "?sort_key=properties", "", 400, "invalid field for sorting"},
		{115, "GET", groups + "/detail?fields=uuid", "", 400, "Unexpected arguments: fields"},
		{115, "GET", groups + "/a%20b/ports", "", 400, "Expected UUID or name for portgroup_ident: a b"},
		{115, "GET", "/v1/nodes/nobody/portgroups", "", 404, "Node nobody could not be found."},
		{115, "GET", "/v1/nodes/nobody/portgroups/detail", "", 404, "Node nobody could not be found."},
		{115, "GET", "/v1/nodes/a/portgroups/detail?fields=uuid", "", 400, "Unexpected arguments: fields"},
	})
}

func TestPortgroupLists(t *testing.T) {
	c := withPorts(t)
	for query, want := range map[string][]string{
		"":                                 {"ga", "gb"},
		"limit=1":                          {"ga", "gb"},
		"sort_key=name&sort_dir=desc":      {"gb", "ga"},
		"node=a":                           {"ga"},
		"node=" + nodeB:                    {"gb"},
		"address=52:54:00:00:01:0A":        {"ga"},
		"address=52:54:00:00:01:ff":        {},
		"node=a&address=52:54:00:00:01:0A": {"ga"},
		"address=52:54:00:00:01:0A&node=b": {},
		"shard=s0,s1":                      {"ga"},
		"shard=s0":                         {},
		"conductor_groups=":                {"ga", "gb"},
		"conductor_groups=x,y":             {},
		"fields=name,mode&limit=1":         {"ga", "gb"},
		"detail=True&sort_key=address":     {"ga", "gb"},
	} {
		if got := c.names(t, 115, "portgroups", query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	list := c.must(http.StatusOK, 115, "GET", groups+"/detail?node=b", "").doc(t)["portgroups"].([]any)
	g, _ := list[0].(map[string]any)
	for _, key := range []string{"links", "ports", "created_at"} {
		if g[key] == nil {
			t.Errorf("there is no %s", key)
		}
		delete(g, key)
	}
	want := map[string]any{
		"uuid": groupB, "updated_at": nil, "address": nil, "category": "c", "dynamic_portgroup": false,
		"extra": map[string]any{}, "internal_info": map[string]any{},
		"mode": "802.3ad", "name": "gb", "physical_network": "pb", "properties": map[string]any{},
		"standalone_ports_supported": false, "node_uuid": nodeB,
	}
	if diff := cmp.Diff(want, g); diff != "" || len(list) != 1 {
		t.Errorf("%d in detail (-want +got):\n%s", len(list), diff)
	}
}

// TestPortgroupPorts: ports are members until they are taken out, and follow
// their portgroup into another network.
func TestPortgroupPorts(t *testing.T) {
	c := withPorts(t)
	in := func(group string) (all []string) {
		for _, p := range c.must(http.StatusOK, 115, "GET",
			groups+"/"+group+"/ports?fields=uuid,portgroup_uuid,physical_network", "").doc(t)["ports"].([]any) {
			port, _ := p.(map[string]any)
			all = append(all, fmt.Sprint(port["uuid"], " ", port["physical_network"]))
		}
		return all
	}
	c.addPort(1, `"uuid":"`+portA+`","node_ident":"b","portgroup_uuid":"`+groupB+
		`","pxe_enabled":false,"physical_network":"pb"`)
	c.addPort(2, `"uuid":"`+portB+`","node_ident":"b","pxe_enabled":false,"physical_network":"pb"`)
	c.must(http.StatusOK, 115, "PATCH", "/v1/ports/"+portB, `[{"op":"add","path":"/portgroup_uuid","value":"`+groupB+`"}]`)
	c.must(http.StatusOK, 115, "PATCH", groups+"/gb", `[{"op":"add","path":"/physical_network","value":"pc"}]`)
	if diff := cmp.Diff([]string{portA + " pc", portB + " pc"}, in("gb")); diff != "" {
		t.Errorf("in gb (-want +got):\n%s", diff)
	}
	c.must(http.StatusOK, 115, "PATCH", "/v1/ports/"+portA, `[{"op":"remove","path":"/portgroup_uuid"}]`)
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/ports/"+portB, "")
	if got := in(groupB); got != nil {
		t.Errorf("still in gb: %v", got)
	}
	c.must(http.StatusNoContent, 115, "DELETE", groups+"/gb", "")
	c.must(http.StatusNotFound, 115, "GET", groups+"/gb", "")
	c.must(http.StatusNoContent, 115, "DELETE", "/v1/nodes/a", "")
	c.must(http.StatusNotFound, 115, "GET", groups+"/ga", "")
}

// TestLockedWiring: the parts of a node cannot change while a conductor works on it.
func TestLockedWiring(t *testing.T) {
	c := withPorts(t)
	c.addPort(1, `"uuid":"`+portA+`","node_uuid":"`+nodeA+`"`)
	connector, _ := c.must(http.StatusCreated, 115, "POST", connectors,
		`{"node_uuid":"`+nodeA+`","type":"iqn","connector_id":"x"}`).doc(
		t)["uuid"].(string)
	c.BMC.Hang = make(chan struct{})
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/a/states/provision", `{"target":"manage"}`)
	text := "Node " + nodeA + " is locked by host conductor-1, please retry after the current operation is completed."
	edit := `[{"op":"add","path":"/extra/a","value":1}]`
	c.refuses(t, []refusal{
		{115, "PATCH", groups + "/ga", edit, 409, text},
		{115, "DELETE", groups + "/ga", "", 409, text},
		{115, "POST", "/v1/ports", `{"address":"52:54:00:00:00:02","node_uuid":"` + nodeA + `"}`, 409, text},
		{115, "PATCH", "/v1/ports/" + portA, edit, 409, text},
		{115, "DELETE", "/v1/ports/" + portA, "", 409, text},
		{115, "POST", "/v1/nodes/a/vifs", `{"id":"v"}`, 409, text},
		{115, "DELETE", "/v1/nodes/a/vifs/v", "", 409, text},
		{115, "PATCH", connectors + "/" + connector, edit, 409, text},
		{115, "DELETE", connectors + "/" + connector, "", 409, text},
	})
	close(c.BMC.Hang)
	c.settle("a")
}
