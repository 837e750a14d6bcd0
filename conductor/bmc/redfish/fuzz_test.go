package redfish_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// FuzzAnswer answers a question about the system with anything: no answer may make the driver fall over.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"@odata.id": "/redfish/v1/Systems/1", "Id": "1", "PowerState": "On", "Boot": {"BootSourceOverrideTarget": "Pxe"}}`,
		`{"PowerState": null, "Boot": null, "MemorySummary": {"TotalSystemMemoryGiB": -1}}`,
		`{"Actions": {"#ComputerSystem.Reset": {"target": "", "@Redfish.ActionInfo": "/redfish/v1/Systems/1"}}}`,
		`{"Processors": {"@odata.id": "/redfish/v1/Systems/1"}, "EthernetInterfaces": {"@odata.id": "x"}}`,
		`{"Members": [{"@odata.id": "/redfish/v1/Systems/1"}], "Members@odata.nextLink": ""}`,
		`{"Bios": {"@odata.id": "/redfish/v1/Systems/1"}, "Attributes": {"A": [1], "B": 1e400}, "Links": {"Chassis": [{"@odata.id": "/redfish/v1/Systems/1"}]}, "NetworkAdapters": {"@odata.id": "/redfish/v1/Systems/1"}, "Controllers": [null]}`,
		`{"VirtualMedia": {"@odata.id": "/redfish/v1/Systems/1"}, "Members": [{"@odata.id": "/redfish/v1/Systems/1"}], "MediaTypes": ["CD"], "Inserted": true, "Image": ""}`,
		`[]`, `null`, `{"Boot": []}`, `{`, ``,
	} {
		f.Add(200, seed)
		f.Add(404, seed)
	}
	f.Add(401, `{"error": {"@Message.ExtendedInfo": [{"MessageId": null}]}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return // no status a server can send
		}
		b := newBoard(t)
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if isSystem(r) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body)) // some statuses have no body
			}
			return isSystem(r)
		}
		d := redfish.New(redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, RefusedFor: time.Nanosecond,
			RequestTimeout: time.Second, CallTimeout: 2 * time.Second})
		if _, err := d.PowerState(t.Context(), b.node()); err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		_, _ = d.System(t.Context(), b.node())
		_, _ = d.ReportHardware(t.Context(), b.node())
		_, _ = d.MediaSlots(t.Context(), b.node())
		_ = d.AttachMedium(t.Context(), b.node(), node.Medium{Device: "cdrom", Image: "http://x/y"})
		_ = d.SetBootDevice(t.Context(), b.node(), "pxe", true)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzStep answers the questions of steps with anything.
func FuzzStep(f *testing.F) {
	f.Add("",
		`{"Bios": {"@odata.id": "/redfish/v1/Systems/1"}, "Attributes": {"A": 1}, "@Redfish.Settings": {"SettingsObject": {"@odata.id": "/redfish/v1/Systems/1"}}, "AttributeRegistry": "R", "Id": "R", "Location": [{"Uri": "/redfish/v1/Systems/1"}], "RegistryEntries": {"Attributes": [{"AttributeName": "A", "Type": "Integer"}]}, "Registries": {"@odata.id": "/redfish/v1/Systems/1"}, "Members": [{"@odata.id": "/redfish/v1/Systems/1"}]}`)
	f.Add("",
		`{"Storage": {"@odata.id": "/redfish/v1/Systems/1"}, "Members": [{"@odata.id": "/redfish/v1/Systems/1"}], "Volumes": {"@odata.id": "/redfish/v1/Systems/1"}, "Drives": [{"@odata.id": "/redfish/v1/Systems/1"}], "StorageControllers": [{}], "CapacityBytes": -1, "RAIDType": "RAID0"}`)
	f.Add(`{"stage": "follow", "task": "/redfish/v1/Systems/1"}`,
		`{"TaskState": "Exception", "Messages": [{}], "Payload": {}}`)
	f.Add(`{"stage": "change", "since": "2026-01-01T00:00:00Z"}`,
		`{"Tasks": {"@odata.id": "/redfish/v1/Systems/1"}, "Members": [null]}`)
	f.Add(`{"item": -1}`, `[]`)
	f.Fuzz(func(t *testing.T, memory, body string) {
		b := newBoard(t)
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if login := r.URL.Path == "/redfish/v1/SessionService/Sessions"; login || r.Method == http.MethodDelete {
				return false
			}
			if r.URL.Path == "/redfish/v1/" && b.count("GET /redfish/v1/") == 1 {
				return false
			}
			_, _ = w.Write([]byte(body)) // a client that has gone is its own affair
			return true
		}
		d := redfish.New(redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, RefusedFor: time.Nanosecond,
			RequestTimeout: time.Second, CallTimeout: 100 * time.Millisecond})
		n := b.node("redfish_system_id", "/redfish/v1/Systems/1")
		for _, s := range []node.Step{
			{Interface: "bios", Step: "factory_reset"},
			{Interface: "bios", Step: "apply_configuration",
				Args: map[string]any{"settings": []any{map[string]any{"name": "A", "value": "2"}}}},
			{Interface: "raid", Step: "delete_configuration"},
			{Interface: "raid", Step: "apply_configuration",
				Args: map[string]any{
					"raid_config": map[string]any{"logical_disks": []any{map[string]any{"size_gb": 1, "raid_level": "0"}}},
				}},
			{Interface: "firmware", Step: "update",
				Args: map[string]any{"settings": []any{map[string]any{"component": "bmc", "url": "http://x/y"}}}},
			{Interface: "management", Step: "clear_secure_boot_keys"},
			{Interface: "management", Step: "clear_job_queue"},
			{Interface: "management", Step: "reset_bmc"},
		} {
			if _, err := d.DoStep(t.Context(), n, s, memory); err != nil && len(err.Error()) > 5000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
