package redfish_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// resources lets a board answer GETs of further documents, and records the requests that it gets: as "METHOD path
// body", answered with accept.
func (b *board) resources(docs map[string]string, accept func(call string) int) *[]string {
	var sent []string
	b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		path := strings.TrimSuffix(r.URL.Path, "/")
		switch doc, ok := docs[path]; {
		case r.Method == http.MethodGet && ok:
			status := http.StatusOK
			if doc == "" {
				status = http.StatusBadRequest
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(doc)) // a driver that has gone fails the test by itself
			return ok
		case r.Method == http.MethodGet, strings.HasSuffix(path, "/Sessions"), r.Method == http.MethodDelete:
			return false
		}
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body) // nothing for a body that is none
		text, _ := json.Marshal(body)
		call := r.Method + " " + path + " " + string(text)
		b.set(func() { sent = append(sent, call) })
		w.WriteHeader(accept(call))
		return true
	}
	return &sent
}

func taken(string) int { return http.StatusNoContent }

// registryDocs are BIOS settings that name a registry, and a registry with an id and a name of its own: Dell,
// Supermicro and NVIDIA's GH200 use others than the settings do.
func registryDocs(named, attributes, id, name string) map[string]string {
	const registries = "/redfish/v1/Registries"
	return map[string]string{
		"/redfish/v1":                `{"Registries": {"@odata.id": "` + registries + `"}}`,
		"/redfish/v1/Systems/1":      `{"Bios": {"@odata.id": "/redfish/v1/Systems/1/Bios"}}`,
		"/redfish/v1/Systems/1/Bios": `{"Attributes": {` + attributes + `}, "AttributeRegistry": "` + named + `"}`,
		registries: `{"Members": [{"@odata.id": "` + registries + `/BaseMessages"}, {"@odata.id": "` + registries +
			`/NetworkAttributesRegistry_NIC.1"}, {"@odata.id": "` + registries + `/` + id + `"}]}`,
		registries + "/BaseMessages": `{"Id": "BaseMessages", "Location": [{"Uri": "/no.json"}]}`,
		registries + "/NetworkAttributesRegistry_NIC.1": `{"Id": "NetworkAttributesRegistry_NIC.1", "Registry": ` +
			`"NetworkAttributesRegistry_NIC.1", "Location": [{"Uri": "/no.json"}]}`,
		registries + "/" + id: `{"Id": "` + id + `", "Registry": "` + name + `", "Location": [{"Language": "ja", "Uri": ` +
			`"/no.json"}, {"Language": "en-US", "Uri": "/r.json"}]}`,
		"/no.json": `{"RegistryEntries": {"Attributes": []}}`,
		"/r.json":  `{"RegistryEntries": {"Attributes": [{"AttributeName": "Cores", "Type": "Integer"}]}}`,
	}
}

// Parts that a board lacks are left out. Passwords that it shows are not kept.
func TestTellOfOddBoards(t *testing.T) {
	on, off := "1", "False"
	yes, no, list := true, false, `["a",1]`
	described := node.HardwareReport{BIOS: []node.BIOSSetting{{Name: "Cores", Value: &on, AttributeType: "Integer",
		ReadOnly: &no}}}
	for name, c := range map[string]struct {
		docs map[string]string
		want node.HardwareReport
	}{
		"nothing at all": {map[string]string{"/redfish/v1/Systems/1": `{}`}, node.HardwareReport{}},
		"settings without a registry": {map[string]string{
			"/redfish/v1/Systems/1": `{"Bios": {"@odata.id": "/redfish/v1/Systems/1/Bios"}, "BiosVersion": "U1"}`,
			"/redfish/v1/Systems/1/Bios": `{"Attributes": {"Cores": 1, "AdminPassword": "letmein", ` +
				`"Turbo": false, "Tag": null}}`,
		}, node.HardwareReport{
			BIOS: []node.BIOSSetting{{Name: "AdminPassword"}, {Name: "Cores", Value: &on}, {Name: "Tag"},
				{Name: "Turbo", Value: &off}},
			Firmware: []node.FirmwareComponent{{Component: "bios", CurrentVersion: "U1"}},
		}},
		"a password with a registry, cards that cannot be read": {map[string]string{
			"/redfish/v1/Systems/1": `{"Bios": {"@odata.id": "/redfish/v1/Systems/1/Bios"}, ` +
				`"Links": {"Chassis": [{"@odata.id": "/redfish/v1/Chassis/1"}]}}`,
			"/redfish/v1/Systems/1/Bios": `{"Attributes": {"Key": "letmein"}, "AttributeRegistry": "R"}`,
			"/redfish/v1":                `{"Registries": {"@odata.id": "/redfish/v1/Registries"}}`,
			"/redfish/v1/Registries":     `{"Members": [{"@odata.id": "/redfish/v1/Registries/R"}]}`,
			"/redfish/v1/Registries/R":   `{"Id": "R", "Location": [{"Uri": "/r.json"}]}`,
			"/r.json": `{"RegistryEntries": ` +
				`{"Attributes": [{"AttributeName": "Key", "Type": "Password", "IsSystemUniqueProperty": true}]}}`,
			"/redfish/v1/Chassis/1": `{"NetworkAdapters": ` +
				`{"@odata.id": "/redfish/v1/Chassis/1/NetworkAdapters"}}`,
			"/redfish/v1/Chassis/1/NetworkAdapters": "",
		},
			node.HardwareReport{
				BIOS: []node.BIOSSetting{{Name: "Key", AttributeType: "Password", ReadOnly: &no, Unique: &yes}},
			}},
		"a registry of another version, between registries of others": {registryDocs("BiosAttributeRegistry.v1_0_3",
			`"Cores": 1`, "BiosAttributeRegistry.v1_0_0", "BiosAttributeRegistry1.0"), described},
		"a registry that the settings do not name": {registryDocs("", `"Cores": 1`, "BiosAttributeRegistry",
			"BiosAttributeRegistry.1.0.0"), described},
		"a registry of other settings": {registryDocs("BiosAttributeRegistry.v1_0_3", `"Turbo": 1`,
			"BiosAttributeRegistry.v1_0_0", ""), node.HardwareReport{BIOS: []node.BIOSSetting{{Name: "Turbo", Value: &on}}}},
		"settings that are objects": {registryDocs("", `"Cores": {"AllowableValues": [1, 2], "current_value": 1}, `+
			`"Turbo": {"DataType": "string"}, "Order": ["a", 1]`, "", ""), node.HardwareReport{BIOS: []node.BIOSSetting{
			{Name: "Cores", Value: &on}, {Name: "Order", Value: &list}, {Name: "Turbo"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			root := c.docs["/redfish/v1"]
			delete(c.docs, "/redfish/v1")
			b.resources(c.docs, taken)
			inner := b.hook
			b.hook = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path == "/redfish/v1/" && root != "" && n > 2 { // the login needs the board's own
					_, _ = w.Write([]byte(root))
					return true
				}
				return inner(w, r, n)
			}
			d := newDriver(t, redfish.Options{})
			got, err := d.ReportHardware(t.Context(), b.node("redfish_system_id", "/redfish/v1/Systems/1"))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v; -want +got:\n%s", err, diff)
			}
		})
	}
}

// Each board wants an image put into its drives in its own way.
func TestMediaOfOddBoards(t *testing.T) {
	const (
		system  = "/redfish/v1/Systems/1"
		media   = system + "/VirtualMedia"
		actions = `, "Actions": {"#VirtualMedia.InsertMedia": {"target": "/insert1"}, ` +
			`"#VirtualMedia.EjectMedia": {"target": "/eject1"}}`
	)
	drives := func(all ...string) map[string]string {
		docs := map[string]string{system: `{"VirtualMedia": {"@odata.id": "` + media + `"}}`}
		var members []string
		for i, d := range all {
			path := media + "/" + string(rune('1'+i))
			docs[path] = strings.ReplaceAll(d, "1\"}", string(rune('1'+i))+"\"}")
			members = append(members, `{"@odata.id": "`+path+`"}`)
		}
		docs[media] = `{"Members": [` + strings.Join(members, ", ") + `]}`
		return docs
	}
	// managedBy is a system with its BMC, each with its own properties about drives; a document "" cannot be read.
	managedBy := func(system1, bmc string, docs map[string]string) map[string]string {
		docs[system] = `{"Links": {"ManagedBy": [{"@odata.id": "/bmc"}]}` + system1 + `}`
		docs["/bmc"] = bmc
		return docs
	}
	const linked = `"VirtualMedia": {"@odata.id": "` + media + `"}`
	plain := func(n string) string {
		return "POST /insert" + n + ` {"Image":"http://images/a.iso","Inserted":true,"WriteProtected":true}`
	}
	for name, c := range map[string]struct {
		docs   map[string]string
		device string
		accept func(call string) int
		want   []string
		fails  string
	}{
		"of the system, the DVD for a CD": {
			drives(`{"MediaTypes": ["USBStick"]`+actions+`}`, `{"MediaTypes": ["DVD"]`+actions+`}`), "cdrom", taken,
			[]string{plain("2")}, "",
		},
		"of the system, its BMC is not asked": {managedBy(", "+linked, "", drives(`{"MediaTypes": ["CD"]`+actions+`}`)),
			"cdrom", taken, []string{plain("1")}, ""},
		"of the BMC, for want of any of the system": {
			managedBy("", "{"+linked+"}", drives(`{"MediaTypes": ["CD"]`+actions+`}`)), "cdrom", taken, []string{plain("1")}, "",
		},
		"a stick": {drives(`{"MediaTypes": ["USBStick", "Floppy"]` + actions + `}`), "disk", taken,
			[]string{plain("1")}, ""},
		"no such drive": {drives(`{"MediaTypes": ["USBStick"]` + actions + `}`), "cdrom", taken, nil,
			"no CD or DVD for a cdrom"},
		"none at all": {drives(), "cdrom", taken, nil, "no CD or DVD for a cdrom"},
		"emptied before": {drives(`{"MediaTypes": ["CD"], "Inserted": true, "Image": "http://images/a.iso"` + actions + `}`),
			"cdrom", taken,
			[]string{`POST /eject1 {}`, plain("1")}, ""},
		"wants more to be said": {drives(`{"MediaTypes": ["CD"]` + actions + `}`), "cdrom", func(call string) int {
			if strings.Contains(call, "TransferProtocolType") {
				return http.StatusNoContent
			}
			return http.StatusBadRequest
		},
			[]string{plain("1"),
				`POST /insert1 {"Image":"http://images/a.iso","TransferMethod":"Stream","TransferProtocolType":"HTTP"}`}, ""},
		"one drive is for the console alone": {drives(`{"MediaTypes": ["CD"]`+actions+`}`,
			`{"MediaTypes": ["CD"]`+actions+`}`), "cdrom", func(call string) int {
			if strings.Contains(call, "/insert1") {
				return http.StatusMethodNotAllowed
			}
			return http.StatusNoContent
		}, []string{plain("1"), plain("2")}, ""},
		"no actions": {drives(`{"MediaTypes": ["CD"], "Inserted": true}`), "cdrom", taken,
			[]string{`PATCH ` + media + `/1 {"Image":null,"Inserted":false}`,
				`PATCH ` + media + `/1 {"Image":"http://images/a.iso","Inserted":true}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t)
			sent := b.resources(c.docs, c.accept)
			d := newDriver(t, redfish.Options{})
			err := d.AttachMedium(t.Context(), b.node("redfish_system_id", system),
				node.Medium{Device: c.device, Image: "http://images/a.iso"})
			if diff := cmp.Diff(c.want, *sent); diff != "" {
				t.Errorf("-want +sent:\n%s", diff)
			}
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("got %v, want %q", err, c.fails)
			}
		})
	}
}
