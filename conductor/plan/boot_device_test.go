package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// TestForcedBootDevice: force_persistent_boot_device overrides the choice of a run, in Ironic's words of today and of
// before.
func TestForcedBootDevice(t *testing.T) {
	for _, c := range []struct {
		force         any
		ramdisk, disk bool // persistent
	}{
		{nil, false, true}, {"Default", false, true}, {"Always", true, true}, {"never", false, false},
		{true, true, true}, {"True", true, true}, {false, false, true}, {"no", false, true}, {5.0, false, true},
	} {
		n := node.Node{DriverInfo: map[string]any{"force_persistent_boot_device": c.force}}
		ramdisk, disk := aimAt(n, "pxe", false).Args["persistent"], aimAt(n, "disk", true).Args["persistent"]
		if ramdisk != c.ramdisk || disk != c.disk {
			t.Errorf("%v: persistent is %v for the ramdisk and %v for the disk", c.force, ramdisk, disk)
		}
	}
}

// TestCapabilityValues: a capability with a value that has no meaning stops a deploy.
func TestCapabilityValues(t *testing.T) {
	for _, c := range []struct {
		instance, properties any
		want                 string
	}{
		{nil, "boot_mode:uefi,foo:bar", ""},
		{map[string]any{"secure_boot": "false"}, nil, ""},
		{nil, "boot_mode:efi", `the capability boot_mode in properties is "efi", expected bios or uefi`},
		{`{"disk_label":"mbr"}`, nil, `the capability disk_label in instance_info is "mbr", expected msdos or gpt`},
	} {
		err := capabilitiesFit(node.Node{InstanceInfo: map[string]any{"capabilities": c.instance},
			Properties: map[string]any{"capabilities": c.properties}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: got %v, want %q", c.instance, c.properties, err, c.want)
		}
	}
}

// TestFastTrackOfNode: a node's own flag comes before the conductor's.
func TestFastTrackOfNode(t *testing.T) {
	for _, c := range []struct {
		own             any
		conductor, want bool
	}{{nil, true, true}, {"false", true, false}, {true, false, true}, {nil, false, false}} {
		n := node.Node{DriverInfo: map[string]any{"fast_track": c.own}}
		if got := FastTrack(n, Settings{FastTrack: c.conductor}); got != c.want {
			t.Errorf("%v, conductor %t: got %t", c.own, c.conductor, got)
		}
	}
}

// TestLeaveByBMC: with deploy_forces_oob_reboot the BMC alone switches the machine off, once its disks are synced.
func TestLeaveByBMC(t *testing.T) {
	names := func(force any) string {
		d := &decision{n: node.Node{DriverInfo: map[string]any{"deploy_forces_oob_reboot": force}}}
		var all []string
		for _, s := range leaveForDisk(d) {
			all = append(all, s.String())
		}
		return strings.Join(all, " ")
	}
	if got, want := names("True"), "agent.sync management.set_boot_device power.power_off power.power_on"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := names(false); !strings.Contains(got, "agent.power_off") {
		t.Errorf("without it: %s", got)
	}
}

// TestImageProxies: the agent is given a node's proxies, and no_proxy only beside one.
func TestImageProxies(t *testing.T) {
	for _, c := range []struct{ info, want map[string]any }{
		{map[string]any{"image_no_proxy": "a"}, map[string]any{}},
		{map[string]any{"image_https_proxy": "p", "image_no_proxy": "a"},
			map[string]any{"proxies": map[string]any{"https": "p"}, "no_proxy": "a"}},
		{map[string]any{"image_http_proxy": "p"}, map[string]any{"proxies": map[string]any{"http": "p"}}},
	} {
		got := map[string]any{}
		addProxies(got, node.Node{DriverInfo: c.info})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.info, diff)
		}
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
