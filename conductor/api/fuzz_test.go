package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// fuzzNode is the one node there is, with a port and a portgroup where these
// are tried; fuzzing may take its name away.
const (
	fuzzNode  = "22222222-2222-4222-8222-222222222222"
	fuzzPort  = "22222222-2222-4222-8222-222222222223"
	fuzzGroup = "22222222-2222-4222-8222-222222222224"
)

// fuzzed is a conductor with one node, and a way to send it anything.
type fuzzed struct{ *conductor }

func newFuzzed(f *testing.F) fuzzed {
	c := newConductor(f)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1","uuid":"`+fuzzNode+
		`","extra":{"a":{"b":[1]}}}`)
	return fuzzed{c}
}

// send answers a request without a network; no answer may be ours to blame.
func (z fuzzed) send(t *testing.T, minor int, method, path, body string) {
	if minor < 1 || minor > nodeapi.MaxMinor {
		minor = nodeapi.MaxMinor
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return // a server never sees it
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	r.URL = u
	r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(minor))
	w := httptest.NewRecorder()
	z.Config.Handler.ServeHTTP(w, r)
	if w.Code >= http.StatusInternalServerError {
		t.Fatalf("%s %s at 1.%d %q: %d %s", method, path, minor, body, w.Code, w.Body)
	}
	if w.Code >= http.StatusBadRequest && errorForm(w.Body.String()) == "neither" {
		t.Fatalf("%s %s: %d without an error in it: %q", method, path, w.Code, w.Body)
	}
}

func FuzzCreateNode(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"driver":"fake-hardware"}`, `{"driver":"redfish","name":"a","driver_info":{"redfish_address":"x"}}`, `null`, `[]`,
		`"x"`, `{`, ``,
		`{"driver":null}`, `{"driver":1}`, `{"driver":"fake-hardware","properties":{"cpus":-1}}`,
		`{"driver":"fake-hardware","uuid":"x"}`,
		`{"driver":"fake-hardware","power_interface":{}}`,
		`{"driver":"fake-hardware","automated_clean":"maybe","retired":[]}`,
		`{"driver":"fake-hardware","name":"n1"}`, `{"driver":"fake-hardware","extra":{"a":[[[[[]]]]]}}`,
	} {
		f.Add(seed, 82)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) { z.send(t, minor, "POST", "/v1/nodes", body) })
}

func FuzzPatchNode(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`[]`, `{}`, `null`, `[{"op":"add","path":"/extra/b","value":1}]`, `[{"op":"remove","path":"/extra/a/b/0"}]`,
		`[{"op":"replace","path":"/name","value":null}]`, `[{"op":"add","path":"/extra/a/b/-","value":{}}]`,
		`[{"op":"add","path":"/extra/a/b/99","value":{}}]`,
		`[{"op":"remove","path":"/driver"}]`, `[{"op":"add","path":"/driver","value":"redfish"}]`, `[null]`,
		`[{"op":"add","path":"/extra"}]`,
		`[{"op":"add","path":"/power_interface","value":"redfish"}]`, `[{"op":"add","path":"/maintenance","value":"x"}]`,
		`[{"op":"add","path":"/extra/~0","value":1}]`,
		`[{"op":"add","path":"/network_data","value":{"links":[{"type":"bond","bond_links":[null]}],"networks":[{"type":[]}],"services":[0]}}]`, `[{"op":"add","path":"/instance_info/display_name","value":["x"]}]`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) { z.send(t, minor, "PATCH", "/v1/nodes/"+fuzzNode, body) })
}

func FuzzProvision(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"target":"manage"}`, `{"target":"active","configdrive":{"meta_data":{}}}`,
		`{"target":"clean","clean_steps":[{"interface":"deploy","step":"x","args":{}}]}`,
		`{"target":"active","deploy_steps":[{"interface":"deploy","step":"x","priority":1e99}]}`, `{"target":null}`,
		`{"target":["manage"]}`, `{"target":"rescue","rescue_password":1}`,
		`{"target":"uefi"}`, `{"target":true}`, `{"enabled":true}`, `{"state":"on"}`, `{"bar":"meow"}`,
		`{"bar":[{}],"method":1}`,
		`{"target":"service","service_steps":[null]}`, `{"target":"provide","runbook":"r"}`,
		`{"target":"clean","disable_ramdisk":"x"}`, `[]`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+"/states/provision", body)
		z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+"/states/power", body)
		z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+"/maintenance", body)
		for _, path := range []string{"/management/boot_device", "/management/inject_nmi",
			"/management/indicators/led@system", "/states/boot_mode", "/states/secure_boot", "/states/console"} {
			z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+path, body)
		}
		z.send(t, minor, "POST", "/v1/nodes/"+fuzzNode+"/vendor_passthru/third_method_sync", body)
		z.send(t, minor, "POST", "/v1/drivers/redfish/vendor_passthru", body)
	})
}

func FuzzPorts(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"address":"52:54:00:00:00:01","node_uuid":"n1"}`, `{"address":"52:54:00:00:00:01","node_ident":"n1"}`,
		`{"address":1,"node_ident":[]}`,
		`{"address":"52:54:00:00:00:02","node_ident":"n1","local_link_connection":{"switch_id":1}}`, `{}`, `null`,
		`{"node_uuid":"` + fuzzNode +
			`","name":"g2","mode":null,"properties":{"a":1},"standalone_ports_supported":"no","physical_network":"p"}`,
		`[{"op":"add","path":"/local_link_connection","value":{"port_id":"1","switch_id":"0a:1b:2c:3d:4e:5f"}}]`,
		`[{"op":"remove","path":"/mode"}]`,
		`[{"op":"add","path":"/portgroup_uuid","value":"` + fuzzGroup +
			`"},{"op":"add","path":"/physical_network","value":"p"}]`,
		`{"id":"v1"}`, `{"id":"v1","port_uuid":"` + fuzzPort + `"}`, `{"id":[],"portgroup_uuid":{}}`,
	} {
		f.Add(seed, 115)
	}
	z.must(http.StatusCreated, 115, "POST", "/v1/portgroups", `{"node_uuid":"`+fuzzNode+`","uuid":"`+fuzzGroup+`"}`)
	z.must(http.StatusCreated, 115, "POST", "/v1/ports",
		`{"node_uuid":"`+fuzzNode+`","uuid":"`+fuzzPort+`","address":"52:54:00:00:00:0f"}`)
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "POST", "/v1/ports", body)
		z.send(t, minor, "PATCH", "/v1/ports/"+fuzzPort, body)
		z.send(t, minor, "POST", "/v1/portgroups", body)
		z.send(t, minor, "PATCH", "/v1/portgroups/"+fuzzGroup, body)
		z.send(t, minor, "POST", "/v1/nodes/"+fuzzNode+"/vifs", body)
	})
}

func FuzzVolumes(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"node_uuid":"` + fuzzNode + `","type":"iqn","connector_id":"a"}`,
		`{"node_uuid":"` + fuzzNode + `","volume_type":"iscsi","volume_id":"v","boot_index":-1e9,"properties":{"a":[1]}}`,
		`[{"op":"replace","path":"/boot_index","value":1e300}]`, `[{"op":"add","path":"/properties/a","value":null}]`,
		`[{"op":"remove","path":"/type"}]`,
		`{"description":"rack"}`, `[{"op":"add","path":"/description","value":1}]`, `[]`, `null`, `{}`,
	} {
		f.Add(seed, 115)
	}
	const id = "33333333-3333-4333-8333-333333333333"
	z.must(http.StatusCreated, 115, "POST", "/v1/volume/connectors",
		`{"uuid":"`+id+`","node_uuid":"`+fuzzNode+`","type":"wwpn","connector_id":"b"}`)
	z.must(http.StatusCreated, 115, "POST", "/v1/volume/targets",
		`{"uuid":"`+id+`","node_uuid":"`+fuzzNode+`","volume_type":"iscsi","volume_id":"v","boot_index":7}`)
	z.must(http.StatusCreated, 115, "POST", "/v1/chassis", `{"uuid":"`+id+`"}`)
	z.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/"+fuzzNode+"/states/power", `{"target":"power off"}`)
	z.settle(fuzzNode)
	f.Fuzz(func(t *testing.T, body string, minor int) {
		for _, path := range []string{"/v1/volume/connectors", "/v1/volume/targets", "/v1/chassis"} {
			z.send(t, minor, "POST", path, body)
			z.send(t, minor, "PATCH", path+"/"+id, body)
		}
	})
}

func FuzzRules(f *testing.F) {
	z := newFuzzed(f)
	z.must(http.StatusCreated, 115, "POST", "/v1/inspection_rules",
		`{"uuid":"`+fuzzNode+`","sensitive":true,"actions":[{"op":"log","args":["x"],"loop":[1]}]}`)
	for _, seed := range []string{
		`{"conditions":[{"op":"!eq","args":[[1,"{item}"]],"loop":{"a":[]},"multiple":"last"}],"actions":[{"op":"fail","args":{"msg":"x"}}]}`, `{"actions":[null]}`, `{}`, `null`, `[]`,
		`{"actions":[{"op":"set-attribute","args":["a/password","b"],"loop":["c/token"]}],"priority":1e99,"phase":""}`,
		`{"actions":{},"uuid":null,"sensitive":0}`,
		`[{"op":"add","path":"/actions/0/args/0","value":{}}]`,
		`[{"op":"remove","path":"/conditions"},{"op":"add","path":"/sensitive","value":null}]`,
		`[{"op":"add","path":"/actions/-","value":1}]`,
		`{"events":[{"event":"network.bind_port","port_id":"` + fuzzNode +
			`","mac_address":"52:54:00:00:00:01","status":"x"}]}`, `{"events":[{"event":{},"port_id":1}]}`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "POST", "/v1/inspection_rules", body)
		z.send(t, minor, "PATCH", "/v1/inspection_rules/"+fuzzNode, body)
		z.send(t, minor, "GET", "/v1/inspection_rules?detail=true&limit=3", "")
		z.send(t, minor, "POST", "/v1/events", body)
	})
}

func FuzzHardware(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"logical_disks":[{"size_gb":"MAX","raid_level":"1+0","physical_disks":[{},{}],"controller":"c"}]}`,
		`{"logical_disks":[{"size_gb":1e99,"raid_level":null}]}`, `{"logical_disks":[[]]}`,
		`{"device_type":"cdrom","image_url":"http://u:p@h/x","image_download_source":"local"}`,
		`{"device_type":[],"image_url":{}}`, `{"image_url":"://"}`, `null`, `[]`, `{"device_types":"cdrom,,disk"}`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+"/states/raid", body)
		z.send(t, minor, "POST", "/v1/nodes/"+fuzzNode+"/vmedia", body)
		z.send(t, minor, "DELETE", "/v1/nodes/"+fuzzNode+"/vmedia", body)
	})
}

func FuzzTemplates(f *testing.F) {
	z := newFuzzed(f)
	z.must(http.StatusCreated, 115, "POST", "/v1/deploy_templates",
		`{"name":"CUSTOM_A","steps":[{"interface":"raid","step":"a","args":{"a":[1]},"priority":1}]}`)
	z.must(http.StatusCreated, 115, "POST", "/v1/runbooks",
		`{"name":"a","steps":[{"interface":"raid","step":"a","order":1}]}`)
	for _, seed := range []string{
		`{"name":"CUSTOM_B","steps":[{"interface":"raid","step":"a","args":{},"priority":"7","order":1}]}`,
		`{"name":1,"steps":[null]}`, `{}`, `[]`, `null`, `{"traits":["CUSTOM_A",null]}`,
		`[{"op":"add","path":"/steps/-","value":{"interface":"bios","step":"factory_reset","args":{},"priority":1e99}}]`,
		`[{"op":"remove","path":"/steps/0/args"}]`,
		`[{"op":"replace","path":"/public","value":true}]`, `[{"op":"replace","path":"/steps","value":[[]]}]`,
		`[{"op":"replace","path":"/steps/0/order","value":"99999999999"}]`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		for _, path := range []string{"/v1/deploy_templates", "/v1/runbooks"} {
			z.send(t, minor, "POST", path, body)
		}
		for _, path := range []string{"/v1/deploy_templates/CUSTOM_A", "/v1/runbooks/a"} {
			z.send(t, minor, "PATCH", path, body)
		}
		z.send(t, minor, "PUT", "/v1/nodes/"+fuzzNode+"/traits", body)
		z.send(t, minor, "PUT", "/v1/runbooks/a/traits", body)
	})
}

func FuzzAllocations(f *testing.F) {
	z := newFuzzed(f)
	z.must(http.StatusCreated, 115, "POST", "/v1/allocations", `{"name":"a","resource_class":"x"}`)
	for _, seed := range []string{
		`{"resource_class":"x","traits":["CUSTOM_A"],"candidate_nodes":["n1"],"owner":"o","extra":{}}`, `{"node":"n1"}`,
		`{"node":["n1"],"name":7}`, `{"resource_class":"x","candidate_nodes":["\u0000",null]}`,
		`[{"op":"add","path":"/name","value":"b"}]`, `[{"op":"remove","path":"/extra"}]`, `{}`, `[]`, `null`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "POST", "/v1/allocations", body)
		z.send(t, minor, "PATCH", "/v1/allocations/a", body)
	})
}

func FuzzQuery(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		"/v1/nodes?limit=1&marker=x", "/v1/nodes?fields=a,b,,links", "/v1/nodes?sort_key=extra&sort_dir=up",
		"/v1/nodes?provision_state=&shard=,,&sharded=1",
		"/v1/nodes?detail=True&fields=uuid", "/v1/ports?sort_key=address&sort_dir=desc&limit=1",
		"/v1/ports?address=x&node=n1", "/v1/nodes/n1?fields=%00",
		"/v1/nodes/n1/history?limit=1&marker=11111111-1111-4111-8111-111111111111", "/v1/drivers?type=x&detail=1",
		"/v1/conductors?fields=x", "/nodes/n1/",
		"/v1/nodes/n1/management/indicators/@", "/v1/nodes/n1/vendor_passthru?method=&method=x",
		"/v1/drivers/redfish/vendor_passthru/methods",
		"/v1/portgroups?node=n1&fields=mode", "/v1/portgroups/detail?shard=a,,b", "/v1/portgroups/x/ports?detail=1",
		"/v1/ports?portgroup=%00&description_contains=%ff", "/v1/nodes/n1/vifs",
		"/v1/chassis/22222222-2222-4222-8222-222222222222/nodes/detail", "/v1/nodes/n1/volume/targets?limit=1",
		"/v1/volume/connectors?node=n1&conductor_groups=x", "/v1/ports?conductor_groups=,",
		"/v1/nodes/n1/bios?fields=,&detail=x", "/v1/nodes/n1/bios/%00", "/v1/nodes/n1/firmware?fields=vendor&detail=0",
		"/v1/nodes/n1/children", "/v1/nodes/n1/vmedia",
		"/v1/nodes/n1/history?sort_key=event&sort_dir=desc",
		"/v1/deploy_templates?sort_key=name&fields=x", "/v1/runbooks/a%2Fb?fields=name", "/v1/runbooks?detail=maybe&limit=-1",
		"/v1/allocations?node=n1&state=%00&owner=", "/v1/nodes/n1/allocation?fields=uuid,x",
		"/v1/inspection_rules?phase=%00&sort_key=priority", "/v1/shards?x=1",
		"/v1/lookup?addresses=52:54:00:00:00:01,x&node_uuid=", "/ferrite/v1/nodes/n1/status", "/ferrite/v1/leases/x",
		"/v1/nodes/validate?node=..", "//v1//nodes", "/v1/nodes/%2e%2e/x", "/v1/nodes/a%2Fb",
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, path string, minor int) { z.send(t, minor, "GET", path, "") })
}

func FuzzRootDevice(f *testing.F) {
	z := newFuzzed(f)
	z.inspectedWith("n1", `{"disks":[{"name":"/dev/sda","size":9000000000,"serial":"A"}]}`, `{}`)
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"root_device":null}`, `{"root_device":{"size":">= 4","serial":"<or> A <or> B"}}`,
		`{"root_device":{"rotational":"maybe"}}`,
		`{"root_device":{"size":1e400}}`, `{"root_device":{"size":[1]}}`, `{"root_device":{"name":"\u0000%zz"}}`,
		`{"root_device":{"model":"<all-in> "},"x":1}`,
	} {
		f.Add(seed, 115)
	}
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "POST", "/ferrite/v1/nodes/n1/root-device", body)
	})
}

func FuzzAgent(f *testing.F) {
	z := newFuzzed(f)
	for _, seed := range []string{
		`{"callback_url":"http://h/","agent_token":"x","agent_version":"1"}`, `{"callback_url":1}`, `null`, `[]`,
		`{"agent_token":null}`,
		`{"inventory":{"interfaces":[{"mac_address":"52:54:00:00:00:01"}]}}`, `{"inventory":null}`,
		`{"inventory":{"interfaces":[{}]},"error":1}`,
		`{"agent_token":"x","done":-1}`, `{"step":"x","done":1e400}`,
	} {
		f.Add(seed, 84)
	}
	const id = "11111111-1111-4111-8111-111111111111"
	f.Fuzz(func(t *testing.T, body string, minor int) {
		z.send(t, minor, "POST", "/v1/heartbeat/n1", body)
		z.send(t, minor, "POST", "/v1/heartbeat/"+id, body)
		z.send(t, minor, "POST", "/v1/continue_inspection", body)
		z.send(t, minor, "POST", "/ferrite/v1/agents/"+id+"/progress", body)
	})
}
