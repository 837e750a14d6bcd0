package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// managed makes a node that is manageable.
func managed(t *testing.T, c *conductor, body string) string {
	t.Helper()
	id, _ := c.must(http.StatusCreated, 115, "POST", "/v1/nodes", body).doc(t)["uuid"].(string)
	c.provision(id, "manage")
	return id
}

// told makes a node do a BIOS step, after which it has BIOS settings and firmware components.
func told(t *testing.T, c *conductor, id, step string) {
	t.Helper()
	args := `{}`
	if step == "apply_configuration" {
		args = `{"settings":[{"name":"BootDelay","value":"5"}]}`
	}
	c.must(http.StatusAccepted, 115, "PUT", "/v1/nodes/"+id+"/states/provision",
		`{"target":"clean","clean_steps":[{"interface":"bios","step":"`+step+`","args":`+args+`}]}`)
	if n := c.settle(id); n.ProvisionState != "manageable" {
		t.Fatalf("the node is %q: %s", n.ProvisionState, n.LastError)
	}
}

// equalJSON compares a body with the expected one, without times.
func equalJSON(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if diff := cmp.Diff(w, timeless(g)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// timeless has "T" for every time of creation or change.
func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if _, text := value.(string); text && (key == "created_at" || key == "updated_at") {
				v[key] = "T"
				continue
			}
			v[key] = timeless(value)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return v
}

func TestBIOS(t *testing.T) {
	c := newConductor(t)
	id := managed(t, c, `{"driver":"fake-hardware","name":"n1"}`)
	equalJSON(t, `{"bios":[]}`, c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/bios", "").body)
	told(t, c, id, "apply_configuration")
	links := func(ref, name string) string {
		return `"links":[{"rel":"self","href":"` + c.URL + `/v1/nodes/` + ref + `/bios/` + name +
			`"},{"rel":"bookmark","href":"` + c.URL + `/nodes/` + ref + `/bios/` + name + `"}]`
	}
	short := func(name, value string) string {
		return `{"created_at":"T","updated_at":null,"name":"` + name + `","value":"` + value + `",` + links("n1", name) + `}`
	}
	equalJSON(t, `{"bios":[`+short("BootDelay", "5")+`,`+short("Turbo", "Enabled")+`]}`,
		c.must(http.StatusOK, 40, "GET", "/v1/nodes/n1/bios", "").body)
	registry := `"attribute_type":"Enumeration","allowable_values":["Enabled","Disabled"],"lower_bound":null,"upper_bound":null,"min_length":null,"max_length":null,"read_only":null,"reset_required":null,"unique":null`
	detail := c.must(http.StatusOK, 74, "GET", "/v1/nodes/n1/bios?detail=True", "").doc(t)["bios"].([]any)
	text, err := json.Marshal(detail[1])
	if err != nil {
		t.Fatal(err)
	}
	equalJSON(t, `{"created_at":"T","updated_at":null,"name":"Turbo","value":"Enabled",`+registry+`,`+links("n1", "Turbo")+
		`}`, string(text))
	equalJSON(t, `{"Turbo":{"created_at":"T","updated_at":null,"name":"Turbo","value":"Enabled",`+registry+`,`+
		links(id, "Turbo")+`}}`,
		c.must(http.StatusOK, 74, "GET", "/v1/nodes/n1/bios/Turbo", "").body)
	equalJSON(t, `{"Turbo":{"created_at":"T","updated_at":null,"name":"Turbo","value":"Enabled",`+links(id, "Turbo")+`}}`,
		c.must(http.StatusOK, 73, "GET", "/v1/nodes/n1/bios/Turbo", "").body)
	equalJSON(t, `{"bios":[{"created_at":"T","updated_at":null,"upper_bound":60,`+links("n1", "BootDelay")+
		`},{"created_at":"T","updated_at":null,"upper_bound":null,`+links("n1", "Turbo")+`}]}`,
		c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/bios?fields=upper_bound", "").body)

	// A setting that changes keeps the time it was seen first.
	told(t, c, id, "factory_reset")
	delay := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/bios/BootDelay", "").doc(t)["BootDelay"].(map[string]any)
	if delay["value"] != "0" || delay["updated_at"] == nil || delay["created_at"] == nil {
		t.Errorf("after a reset: %v", delay)
	}
	for _, bad := range []struct {
		minor  int
		path   string
		status int
	}{
		{39, "", 404}, {39, "/Turbo", 404}, {115, "/Cores", 404}, {73, "?detail=True", 400}, {73, "?fields=name", 400},
		{74, "?fields=name,color", 400}, {74, "?fields=name&detail=True", 400}, {74, "?detail=maybe", 400},
		{74, "?limit=1", 400}, {74, "/Turbo?detail=True", 400},
	} {
		if r := c.do(bad.minor, "GET", "/v1/nodes/n1/bios"+bad.path, ""); r.status != bad.status {
			t.Errorf("GET bios%s at 1.%d: %d %s, want %d", bad.path, bad.minor, r.status, r.body, bad.status)
		}
	}
	if r := c.do(115, "GET", "/v1/nodes/n2/bios", ""); r.status != http.StatusNotFound {
		t.Errorf("of a node that is not there: %d", r.status)
	}
}

func TestFirmware(t *testing.T) {
	c := newConductor(t)
	id := managed(t, c, `{"driver":"fake-hardware","name":"n1"}`)
	equalJSON(t, `{"firmware":[]}`, c.must(http.StatusOK, 86, "GET", "/v1/nodes/n1/firmware", "").body)
	told(t, c, id, "factory_reset")
	told(t, c, id, "apply_configuration")
	const flashed = `"created_at":"T","updated_at":"T","component":"bmc","initial_version":"1.0","current_version":"1.5","last_version_flashed":"1.5"`
	equalJSON(t, `{"firmware":[{`+flashed+`}]}`, c.must(http.StatusOK, 113, "GET", "/v1/nodes/n1/firmware", "").body)
	equalJSON(t, `{"firmware":[{`+flashed+`,"vendor":"V","model":"M","serial_number":"S"}]}`,
		c.must(http.StatusOK, 114, "GET", "/v1/nodes/n1/firmware?detail=True", "").body)
	equalJSON(t, `{"firmware":[{"created_at":"T","updated_at":"T","current_version":"1.5"}]}`,
		c.must(http.StatusOK, 86, "GET", "/v1/nodes/n1/firmware?fields=current_version", "").body)
	for path, minor := range map[string]int{"?fields=vendor": 113, "?fields=color": 115, "?sort_key=vendor": 115} {
		if r := c.do(minor, "GET", "/v1/nodes/n1/firmware"+path, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s at 1.%d: %d", path, minor, r.status)
		}
	}
	c.must(http.StatusNotFound, 85, "GET", "/v1/nodes/n1/firmware", "")
}

func TestRAID(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"redfish","name":"n2","raid_interface":"no-raid"}`)
	config := `{"logical_disks":[{"size_gb":"MAX","raid_level":"1","is_root_volume":true},{"size_gb":100,"raid_level":"5+0","controller":"c","physical_disks":["a","b"]}]}`
	c.must(http.StatusNoContent, 12, "PUT", "/v1/nodes/n1/states/raid", config)
	for _, path := range []string{"/v1/nodes/n1", "/v1/nodes/n1/states"} {
		text, err := json.Marshal(c.must(http.StatusOK, 12, "GET", path, "").doc(t)["target_raid_config"])
		if err != nil {
			t.Fatal(err)
		}
		equalJSON(t, config, string(text))
	}
	for _, bad := range []struct{ name, body, want string }{
		{"nothing", ``, "Expected types"},
		{"a list", `[]`, "Expected types"},
		{"no disks", `{"x":1}`, "'logical_disks' is a required property"},
		{"an empty list", `{"logical_disks":[]}`, "too short"},
		{"no list", `{"logical_disks":{}}`, "not of type 'array'"},
		{"more besides", `{"logical_disks":[{"size_gb":1,"raid_level":"0"}],"x":1}`, "'x' was unexpected"},
		{"no object", `{"logical_disks":[1]}`, "not of type 'object'"},
		{"no level", `{"logical_disks":[{"size_gb":1}]}`, "'raid_level' is a required"},
		{"no size", `{"logical_disks":[{"raid_level":"0"}]}`, "'size_gb' is a required"},
		{"no such level", `{"logical_disks":[{"size_gb":1,"raid_level":"7"}]}`, "'7' is not one of"},
		{"a number for a level", `{"logical_disks":[{"size_gb":1,"raid_level":1}]}`, "1 is not one of"},
		{"half a gigabyte", `{"logical_disks":[{"size_gb":0.5,"raid_level":"0"}]}`, "not valid under any"},
		{"less than nothing", `{"logical_disks":[{"size_gb":-1,"raid_level":"0"}]}`, "not valid under any"},
		{"what nobody knows", `{"logical_disks":[{"size_gb":1,"raid_level":"0","color":"red"}]}`, "'color' was unexpected"},
		{"no disk at all", `{"logical_disks":[{"size_gb":1,"raid_level":"0","number_of_physical_disks":0}]}`, "minimum of 0"},
		{"disks without a controller", `{"logical_disks":[{"size_gb":1,"raid_level":"0","physical_disks":["a"]}]}`,
			"'controller' is a dependency"},
		{"one hint", `{"logical_disks":[{"size_gb":1,"raid_level":"0","controller":"c","physical_disks":[{}]}]}`,
			"not valid under any"},
		{"two roots",
			`{"logical_disks":[{"size_gb":1,"raid_level":"0","is_root_volume":true},{"size_gb":1,"raid_level":"0","is_root_volume":true}]}`, "more than one root volume"},
		{"a word for yes", `{"logical_disks":[{"size_gb":1,"raid_level":"0","share_physical_disks":"yes"}]}`,
			"not of type 'boolean'"},
		{"a kind of disk", `{"logical_disks":[{"size_gb":1,"raid_level":"0","disk_type":"tape","interface_type":"sas"}]}`,
			"'tape' is not one of"},
	} {
		if r := c.do(115, "PUT", "/v1/nodes/n1/states/raid", bad.body); r.status != http.StatusBadRequest ||
			!strings.Contains(r.text(), bad.want) {
			t.Errorf("%s: %d %s, want %q", bad.name, r.status, r.body, bad.want)
		}
	}
	if n, _ := c.Engine.Node(t.Context(), "n1"); len(n.TargetRAIDConfig["logical_disks"].([]any)) != 2 {
		t.Errorf("what was refused has changed %v", n.TargetRAIDConfig)
	}
	c.must(http.StatusNoContent, 115, "PUT", "/v1/nodes/n1/states/raid", `{}`)
	if n, _ := c.Engine.Node(t.Context(), "n1"); len(n.TargetRAIDConfig) != 0 {
		t.Errorf("the configuration is still %v", n.TargetRAIDConfig)
	}
	c.must(http.StatusNotFound, 115, "PUT", "/v1/nodes/n2/states/raid", config)
	c.must(http.StatusNotAcceptable, 11, "PUT", "/v1/nodes/n1/states/raid", config)
	c.must(http.StatusNotAcceptable, 11, "GET", "/v1/drivers/redfish/raid/logical_disk_properties", "")
	c.must(http.StatusNotFound, 12, "GET", "/v1/drivers/none/raid/logical_disk_properties", "")
	if p := c.must(http.StatusOK, 12, "GET", "/v1/drivers/redfish/raid/logical_disk_properties", "").doc(t); len(
		p) != 10 || p["size_gb"] == "" {
		t.Errorf("properties: %v", p)
	}
}

func TestVirtualMedia(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	const path = "/v1/nodes/n1/vmedia"
	equalJSON(t, `[{"image":null,"inserted":false,"media_types":["CD","DVD"]}]`,
		c.must(http.StatusOK, 93, "GET", path, "").body)
	if r := c.must(http.StatusNoContent, 89, "POST", path,
		`{"device_type":"cdrom","image_url":"http://u:secret@images/a.iso","image_download_source":"http"}`); r.body != "" {
		t.Errorf("the answer has a body: %s", r.body)
	}
	c.settle("n1")
	shown := c.must(http.StatusOK, 115, "GET", path, "").body
	equalJSON(t, `[{"image":"http://`+nodeapi.Masked+`@images/a.iso","inserted":true,"media_types":["CD","DVD"]}]`, shown)

	// A failure comes after the answer: it is in last_error and history, without secrets.
	c.must(http.StatusNoContent, 115, "POST", path, `{"device_type":"floppy","image_url":"https://u:secret@images/b.img"}`)
	n := c.settle("n1")
	if !strings.Contains(n.LastError, "there is no floppy for https://"+nodeapi.Masked+"@images/b.img") {
		t.Errorf("last error %q", n.LastError)
	}
	if h := c.must(http.StatusOK, 115, "GET", "/v1/nodes/n1/history?detail=True", "").body; !strings.Contains(h,
		"there is no floppy") || strings.Contains(h, "secret") {
		t.Errorf("history %s", h)
	}
	c.must(http.StatusNoContent, 115, "DELETE", path+"?device_types=cdrom,disk", "")
	if n = c.settle("n1"); n.LastError != "" || n.Chore != "" {
		t.Errorf("after that went well: %q, chore %q", n.LastError, n.Chore)
	}
	c.must(http.StatusNoContent, 115, "DELETE", path, "")
	c.settle("n1")
	equalJSON(t, `[{"image":null,"inserted":false,"media_types":["CD","DVD"]}]`,
		c.must(http.StatusOK, 93, "GET", path, "").body)
}

// TestVirtualMediaUnsupported: a driver without virtual drives takes the request,
// and fails it afterwards; a machine without any has an empty list of them.
func TestVirtualMediaUnsupported(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes",
		`{"driver":"redfish","name":"n1","management_interface":"noop","driver_info":{"redfish_address":"http://h"}}`)
	for _, k := range []struct{ method, body, does string }{
		{"POST", `{"device_type":"cdrom","image_url":"http://images/a.iso"}`, "attach_virtual_media"},
		{"DELETE", "", "detach_virtual_media"},
	} {
		c.must(http.StatusNoContent, 115, k.method, "/v1/nodes/n1/vmedia", k.body)
		if n, want := c.settle("n1"),
			"Driver redfish does not support "+k.does+" (disabled or not implemented)."; !strings.Contains(n.LastError, want) {
			t.Errorf("%s: last error %q, want %q", k.method, n.LastError, want)
		}
	}
	if got := c.must(http.StatusOK, 93, "GET", "/v1/nodes/n1/vmedia", "").body; got != "[]" {
		t.Errorf("virtual drives of a driver without them: %s, want []", got)
	}
	c.BMC.NoDrives()
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n2"}`)
	if got := c.must(http.StatusOK, 93, "GET", "/v1/nodes/n2/vmedia", "").body; got != "[]" {
		t.Errorf("virtual drives: %s, want []", got)
	}
}

func TestVirtualMediaRefused(t *testing.T) {
	c := newConductor(t)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"redfish","name":"n2","management_interface":"noop"}`)
	c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"redfish","name":"n3"}`)
	const good = `{"device_type":"cdrom","image_url":"http://images/a.iso"}`
	for _, bad := range []struct {
		minor        int
		method, path string
		body         string
		status       int
		want         string
	}{
		{88, "POST", "n1/vmedia", good, 404, ""},
		{88, "DELETE", "n1/vmedia", "", 404, ""},
		{92, "GET", "n1/vmedia", "", 404, ""},
		{115, "POST", "n9/vmedia", good, 404, ""},
		{115, "POST", "n1/vmedia", `[]`, 400, "not of type 'object'"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom"}`, 400, "'image_url' is a required"},
		{115, "POST", "n1/vmedia", `{"image_url":"http://images/a.iso"}`, 400, "'device_type' is a required"},
		{115, "POST", "n1/vmedia", `{"device_type":"tape","image_url":"http://images/a.iso"}`, 400, "'tape' is not one of"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom","image_url":7}`, 400, "7 is not of type"},
		{115, "POST", "n1/vmedia",
			`{"device_type":"cdrom","image_url":"http://images/a.iso","image_download_source":"swift"}`, 400,
			"'swift' is not one of"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom","image_url":"http://images/a.iso","user":"u"}`, 400,
			"'user' was unexpected"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom","image_url":"file:///etc/shadow"}`, 400, "URL scheme: file"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom","image_url":"glance-image"}`, 400, "missing URL scheme"},
		{115, "POST", "n1/vmedia", `{"device_type":"cdrom","image_url":"http://u:secret@%zz"}`, 400, "no URL"},
		{115, "DELETE", "n1/vmedia?device_types=cdrom,tape", "", 400, "Invalid device type(s) tape"},
		{115, "DELETE", "n1/vmedia?devices=cdrom", "", 400, "devices"},
		{115, "POST", "n3/vmedia", good, 400, "redfish_address"},
	} {
		r := c.do(bad.minor, bad.method, "/v1/nodes/"+bad.path, bad.body)
		if r.status != bad.status || !strings.Contains(r.text(), bad.want) || strings.Contains(r.body, "secret") {
			t.Errorf("%s %s %s at 1.%d: %d %s, want %d %q", bad.method, bad.path, bad.body, bad.minor, r.status, r.body,
				bad.status, bad.want)
		}
	}
}

// A chore reserves its node, for everybody to see, and no other is begun.
func TestChoresReserve(t *testing.T) {
	const medium = `{"device_type":"cdrom","image_url":"http://images/a.iso"}`
	for _, first := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", "/v1/nodes/n1/states/power", `{"target":"power on"}`, http.StatusAccepted},
		{"POST", "/v1/nodes/n1/vmedia", medium, http.StatusNoContent},
	} {
		t.Run(first.path, func(t *testing.T) {
			c := newConductor(t)
			c.must(http.StatusCreated, 115, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"n1"}`)
			c.BMC.Hang = make(chan struct{})
			c.must(first.status, 115, first.method, first.path, first.body)
			for method, body := range map[string]string{"POST": medium, "DELETE": ""} {
				if r := c.do(115, method, "/v1/nodes/n1/vmedia", body); r.status != http.StatusConflict ||
					!strings.Contains(r.text(), "is locked by host") {
					t.Errorf("%s: %d %s", method, r.status, r.body)
				}
			}
			const shown = "/v1/nodes/n1?fields=reservation"
			if doc := c.must(http.StatusOK, 115, "GET", shown, "").doc(t); doc["reservation"] != "conductor-1" {
				t.Errorf("reservation %v while it is under way", doc["reservation"])
			}
			close(c.BMC.Hang)
			c.settle("n1")
			if doc := c.must(http.StatusOK, 115, "GET", shown, "").doc(t); doc["reservation"] != nil {
				t.Errorf("reservation %v when it is over", doc["reservation"])
			}
		})
	}
}
