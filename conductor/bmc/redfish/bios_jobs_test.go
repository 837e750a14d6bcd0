package redfish_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestBIOSJobs: iDRAC makes a job of settings that are written with ApplyTime OnReset, and of no others
// (dell/terraform-provider-redfish#231); settings that are pending already are not written again
// (dsx-ai-factory/libredfish#97); while a job is there others are refused, which the error says
// (quadsproject/quads#726).
func TestBIOSJobs(t *testing.T) {
	const settings = "/redfish/v1/Systems/1/Bios/Settings"
	for name, c := range map[string]struct {
		apply, pending string
		status         int
		sent, fails    string
	}{
		"written": {`, "SupportedApplyTimes": ["OnReset"]`, "{}", 202,
			`"@Redfish.SettingsApplyTime":{"@odata.type":"#Settings.v1_1_0.PreferredApplyTime","ApplyTime":"OnReset"}`, ""},
		"pending already":    {`, "SupportedApplyTimes": ["OnReset"]`, `{"MemTest": "Disabled"}`, 500, "", ""},
		"a job of another's": {"", `{"Other": 1}`, 400, `{"Attributes":{"MemTest":"Disabled"}}`, "the BMC answered 400"},
		"no settings object": {"none", "{}", 204, `PATCH /redfish/v1/Systems/1/Bios {"Attributes":{"MemTest":"Disabled"}}`,
			""},
		"no settings object, and read only": {"none", "{}", 405, "PATCH /redfish/v1/Systems/1/Bios ",
			"has no settings object to change them and refuses a change"},
	} {
		t.Run(name, func(t *testing.T) {
			object := `, "@Redfish.Settings": {"SettingsObject": {"@odata.id": "` + settings + `"}` + c.apply + `}`
			if c.apply == "none" {
				object = ""
			}
			b := newBoard(t)
			sent := b.resources(map[string]string{
				"/redfish/v1/Systems/1":      `{"Bios": {"@odata.id": "/redfish/v1/Systems/1/Bios"}}`,
				"/redfish/v1/Systems/1/Bios": `{"Attributes": {"MemTest": "Enabled"}` + object + `}`,
				settings:                     `{"Attributes": ` + c.pending + `}`,
			}, func(string) int { return c.status })
			step := node.Step{Interface: "bios", Step: "apply_configuration", Args: map[string]any{
				"settings": []any{map[string]any{"name": "MemTest", "value": "Disabled"}}}}
			report, err := newDriver(t, redfish.Options{}).DoStep(t.Context(),
				b.node("redfish_system_id", "/redfish/v1/Systems/1"), step, "")
			calls := strings.Join(*sent, "\n")
			if (err == nil) != (c.fails == "") || err == nil && !report.Reboot || err != nil &&
				!strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v, %v", report, err)
			}
			if !strings.Contains(calls, c.sent) || c.sent == "" && strings.Contains(calls, http.MethodPatch) {
				t.Errorf("sent %s, want %s", calls, c.sent)
			}
		})
	}
}
