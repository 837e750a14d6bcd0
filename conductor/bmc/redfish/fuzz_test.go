package redfish_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
)

// FuzzAnswer answers a question about the system with anything: the driver may
// not fall over, whatever a BMC says.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"@odata.id": "/redfish/v1/Systems/1", "Id": "1", "PowerState": "On", "Boot": {"BootSourceOverrideTarget": "Pxe"}}`,
		`{"PowerState": null, "Boot": null, "MemorySummary": {"TotalSystemMemoryGiB": -1}}`,
		`{"Actions": {"#ComputerSystem.Reset": {"target": "", "@Redfish.ActionInfo": "/redfish/v1/Systems/1"}}}`,
		`{"Processors": {"@odata.id": "/redfish/v1/Systems/1"}, "EthernetInterfaces": {"@odata.id": "x"}}`,
		`{"Members": [{"@odata.id": "/redfish/v1/Systems/1"}], "Members@odata.nextLink": ""}`,
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
		d := redfish.New(redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, RefusedFor: time.Nanosecond, RequestTimeout: time.Second, CallTimeout: 2 * time.Second})
		if _, err := d.PowerState(t.Context(), b.node()); err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		_, _ = d.System(t.Context(), b.node())
		_ = d.SetBootDevice(t.Context(), b.node(), "pxe", true)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
