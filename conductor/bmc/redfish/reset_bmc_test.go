package redfish_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestResetWithoutParameter: iLO 5 knows no parameter of its reset since firmware 2.10
// (HewlettPackard/PowerShell-ProLiant-SDK#40); any other refusal is an error.
func TestResetWithoutParameter(t *testing.T) {
	for _, takesEmpty := range []bool{true, false} {
		b := newBoard(t)
		const reset = "/redfish/v1/Managers/1/reset"
		b.extra = map[string]any{"Links": map[string]any{"ManagedBy": []any{link("/redfish/v1/Managers/1")}},
			"/redfish/v1/Managers/1": map[string]any{"Actions": map[string]any{
				"#Manager.Reset": map[string]any{"target": reset}}}}
		sent := 0
		b.hook = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.URL.Path != reset {
				return false
			}
			sent++
			body := map[string]any{}
			if _ = json.NewDecoder(r.Body).Decode(&body); len(body) > 0 || !takesEmpty {
				refuse(w, 400, "ActionParameterUnknown", "ResetType")
			} else {
				w.WriteHeader(http.StatusNoContent)
			}
			return true
		}
		d := newDriver(t, redfish.Options{})
		step := node.Step{Interface: "management", Step: "reset_bmc"}
		report, err := d.DoStep(t.Context(), b.node(), step, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.DoStep(t.Context(), b.node(), step, report.Task)
		if (err == nil) != takesEmpty || err != nil && !strings.Contains(err.Error(), "400 Bad Request") || sent != 2 {
			t.Errorf("empty is taken: %t; %v after %d requests", takesEmpty, err, sent)
		}
	}
}
