package plan

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The agent's boot mode is believed against the BMC's, and an operator's wish against both.
func TestBootedBy(t *testing.T) {
	for name, c := range map[string]struct {
		bmc, agent string
		properties string // capabilities of the node
		instance   string // and of the instance
		inspected  string // the mode that an inspection by the BMC has put there
		mode       string // afterwards
		caps       string
		target     string // of the boot loader's step
		changed    bool
	}{
		"the BMC is wrong": {"bios", "uefi", "", "", "", "uefi", "", "uefi", true},
		"and has been inspected": {"bios", "uefi", "a:b,boot_mode:bios", "", "bios", "uefi", "a:b,boot_mode:uefi",
			"uefi", true},
		"the operator asks for it": {"bios", "uefi", "boot_mode:bios", "", "", "uefi", "boot_mode:bios", "bios", true},
		"the instance asks for it": {"bios", "uefi", "", "boot_mode:bios", "", "uefi", "", "bios", true},
		"an older inspection": {"bios", "uefi", "boot_mode:bios", "", "uefi", "uefi", "boot_mode:bios",
			"bios", true},
		"the BMC does not say":           {"", "uefi", "", "", "", "uefi", "", "", true},
		"the other way about":            {"uefi", "bios", "", "", "", "bios", "", "bios", true},
		"both agree":                     {"uefi", "uefi", "", "", "", "uefi", "", "uefi", false},
		"an agent that does not say":     {"bios", "", "", "", "", "bios", "", "bios", false},
		"an agent that says other words": {"bios", "efi\x00", "", "", "", "bios", "", "bios", false},
	} {
		t.Run(name, func(t *testing.T) {
			n := node.Node{BootMode: c.bmc, Properties: map[string]any{"capabilities": c.properties},
				InstanceInfo: map[string]any{"capabilities": c.instance}, DriverInternalInfo: map[string]any{}}
			if c.inspected != "" {
				n.DriverInternalInfo[inspectedBootMode] = c.inspected
			}
			d := decision{n: n}
			n.Run = &node.Run{Index: 1, Steps: []node.Step{{Interface: "agent", Step: "wait_for_heartbeat"},
				step("agent", "install_bootloader", map[string]any{"target_boot_mode": BootModeOf(d.n)}),
				{Interface: "deploy", Step: "x", InBand: true, Args: map[string]any{"target_boot_mode": "theirs"}}}}
			if changed := BootedBy(&n, c.agent); changed != c.changed {
				t.Errorf("changed is %t", changed)
			}
			got := []any{n.BootMode, n.Properties["capabilities"], n.Run.Steps[1].Args["target_boot_mode"],
				n.Run.Steps[2].Args["target_boot_mode"]}
			if diff := cmp.Diff([]any{c.mode, c.caps, c.target, "theirs"}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A mode that an agent has refuted is not taken from the BMC again; another one is.
func TestRefutedBootMode(t *testing.T) {
	n := node.Node{UUID: erasedNode, ProvisionState: node.Manageable, BootMode: "bios"}
	BootedBy(&n, "uefi")
	for _, c := range []struct {
		reads, want string
		news        bool
	}{{"bios", "uefi", false}, {"", "uefi", false}, {"uefi", "uefi", false}} {
		e := FirmwareRead{BootMode: c.reads}
		if news := FirmwareNews(n, e); news != c.news {
			t.Errorf("%q is news: %t", c.reads, news)
		}
	}
	result := json.RawMessage(`{"boot_mode": "bios"}`)
	verify := n
	verify.ProvisionState = node.Verifying
	verify.Run = &node.Run{Activity: "verify", Generation: 1,
		Steps: []node.Step{{Interface: "management", Step: "validate"},
			{Interface: "management", Step: "validate"}}}
	change, err := Decide(verify, Facts{Settings: DefaultSettings()},
		Outcome{Effect: node.Effect{Name: "management.validate", Generation: 1}, Result: result}, time.Now())
	if err != nil || change.Save.BootMode != "uefi" {
		t.Errorf("verified: %v, %v", change.Save.BootMode, err)
	}
	verify.DriverInternalInfo = nil
	change, err = Decide(verify, Facts{Settings: DefaultSettings()},
		Outcome{Effect: node.Effect{Name: "management.validate", Generation: 1}, Result: result}, time.Now())
	if err != nil || change.Save.BootMode != "bios" {
		t.Errorf("verified without an agent's word: %v, %v", change.Save.BootMode, err)
	}
}
