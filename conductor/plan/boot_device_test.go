package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// aiming is a deploy before its step that sets the boot device.
func aiming(mode string, before node.Step, args string) (node.Node, node.Effect) {
	n := node.Node{UUID: erasedNode, Name: "n1", ProvisionState: node.Deploying, BootMode: mode, Run: &node.Run{
		Activity: "deploy", Generation: 1, Index: 1, Steps: []node.Step{before,
			{Interface: "management", Step: "set_boot_device"}, {Interface: "power", Step: "power_off"}},
	}}
	return n, node.Effect{Name: "management.set_boot_device", Generation: 1, Args: json.RawMessage(args)}
}

// A BMC that refuses the disk ends a deploy only where no boot entry of the agent's leads to
// it.
func TestBootDeviceRefused(t *testing.T) {
	entry := node.Step{Interface: "agent", Step: "install_bootloader"}
	const disk = `{"device": "disk", "persistent": true}`
	for name, c := range map[string]struct {
		mode   string
		before node.Step
		args   string
		want   node.State
	}{
		"an entry":       {"uefi", entry, disk, node.Deploying},
		"BIOS has none":  {"bios", entry, disk, node.DeployFailed},
		"mode not known": {"", entry, disk, node.DeployFailed},
		"no entry made":  {"uefi", node.Step{Interface: "agent", Step: "sync"}, disk, node.DeployFailed},
		"a step of that name": {"uefi", node.Step{Interface: "agent", Step: "install_bootloader", InBand: true}, disk,
			node.DeployFailed},
		"the way to a ramdisk": {"uefi", entry, `{"device": "pxe", "persistent": false}`, node.DeployFailed},
	} {
		t.Run(name, func(t *testing.T) {
			n, ef := aiming(c.mode, c.before, c.args)
			change, err := Decide(n, Facts{Settings: DefaultSettings()}, Outcome{Effect: ef, Failure: "400 no"}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if got := change.Save.ProvisionState; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			warned := false
			for _, h := range change.History {
				warned = warned || h.Severity == "WARNING" && strings.Contains(h.Event, "400 no")
			}
			if warned != (c.want == node.Deploying) {
				t.Errorf("warned is %t: %v", warned, change.History)
			}
		})
	}
}

// A device that lasts for one boot is kept, until another is set.
func TestOnceDevice(t *testing.T) {
	n, ef := aiming("uefi", node.Step{}, `{"device": "disk", "persistent": true}`)
	for _, c := range []struct{ result, want string }{
		{`null`, ""}, {`{"device": "disk", "once": true}`, "disk"}, {`{"device": "cdrom", "once": true}`, "cdrom"},
		{`{"device": "pxe"}`, ""},
	} {
		change, err := Decide(n, Facts{Settings: DefaultSettings()},
			Outcome{Effect: ef, Result: json.RawMessage(c.result)}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := OnceDevice(*change.Save); got != c.want {
			t.Errorf("%s: got %q", c.result, got)
		}
		n.DriverInternalInfo = change.Save.DriverInternalInfo
	}
}
