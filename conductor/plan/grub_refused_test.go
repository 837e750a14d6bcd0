package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestGrubRefused: the refusal of ironic-python-agent 2023.1 and later is reported with a flag of ours. Other errors
// and other steps are reported unchanged.
func TestGrubRefused(t *testing.T) {
	const refused = "Install of legacy BIOS bootloaders disabled by CONF.enable_bios_bootloader_install as part of " +
		"CVE-2026-43003 mitigation."
	for name, c := range map[string]struct {
		step, details string
		hint          bool
	}{
		"refused":       {"install_bootloader", refused, true},
		"another error": {"install_bootloader", "efibootmgr: no space left", false},
		"another step":  {"sync", refused, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(agentapi.Result{
				ID: "1", Status: agentapi.Failed,
				Error: agentapi.NewCommandError("InvalidImage", "The provided image is not valid for use", c.details),
			})
			if err != nil {
				t.Fatal(err)
			}
			n := node.Node{UUID: erasedNode, Name: "n1", ProvisionState: node.DeployWait, Run: &node.Run{
				Activity: "deploy", Generation: 1, Command: "1",
				Steps: []node.Step{{Interface: "agent", Step: c.step}, {Interface: "power", Step: "power_off"}},
			}}
			change, err := Decide(n, Facts{Settings: DefaultSettings()},
				Outcome{Effect: node.Effect{Name: "agent.poll", Generation: 1}, Result: raw}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			got := change.Save
			if got.ProvisionState != node.DeployFailed || !strings.Contains(got.LastError, c.details) ||
				strings.Contains(got.LastError, "start the conductor with --enable-bios-bootloader-install") != c.hint {
				t.Errorf("%s, last_error %q", got.ProvisionState, got.LastError)
			}
		})
	}
}
