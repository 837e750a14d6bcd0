package agentapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// load reads one recorded exchange (testdata: Ironic 21.4 with
// ironic-python-agent 2023.1, long strings cut) strictly into T.
func load[T any](t *testing.T, name string) T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func TestRecordedLookupAndHeartbeat(t *testing.T) {
	first := load[LookupReply](t, "lookup")
	if err := first.Validate(); err != nil {
		t.Error(err)
	}
	if first.Config.HeartbeatTimeout != 300 || len(first.Config.AgentToken) < 32 || first.Config.FerriteProgress {
		t.Errorf("config = %+v", first.Config)
	}
	again := load[LookupReply](t, "lookup-again")
	if err := again.Validate(); err != nil || again.Config.AgentToken != MaskedToken {
		t.Errorf("second lookup: token %q, %v", again.Config.AgentToken, err)
	}
	for _, name := range []string{"heartbeat", "heartbeat-tls"} {
		if err := load[Heartbeat](t, name).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.HasPrefix(load[Heartbeat](t, "heartbeat-tls").AgentVerifyCA, "-----BEGIN CERTIFICATE-----\n") {
		t.Error("heartbeat-tls: no PEM")
	}
}

func TestRecordedCommands(t *testing.T) {
	for _, name := range []string{
		"clean.get_clean_steps", "clean.execute_clean_step", "deploy.get_deploy_steps", "deploy.execute_deploy_step",
		"standby.get_partition_uuids", "image.install_bootloader", "standby.power_off",
	} {
		c := load[Command](t, name)
		if err := c.Validate(); err != nil || c.Name != name {
			t.Errorf("%s: %q, %v", name, c.Name, err)
		}
		r := load[Result](t, name+"-reply")
		if _, command, _ := c.Split(); r.Name != command || r.ID == "" {
			t.Errorf("%s: reply %+v", name, r)
		}
	}
}

func TestRecordedWriteImageStep(t *testing.T) {
	var p StepParams
	if err := json.Unmarshal(load[Command](t, "deploy.execute_deploy_step").Params, &p); err != nil {
		t.Fatal(err)
	}
	s, err := p.Parsed()
	if err != nil || s.Step != "write_image" || s.Interface != "deploy" {
		t.Fatalf("step = %+v, %v", s, err)
	}
	if diff := cmp.Diff(map[string]string{"generic_hardware_manager": "1.1"}, p.DeployVersion); diff != "" {
		t.Error(diff)
	}
	args, err := json.Marshal(s.Args)
	if err != nil {
		t.Fatal(err)
	}
	var w PrepareImageParams
	if err := json.Unmarshal(args, &w); err != nil {
		t.Fatal(err)
	}
	if err := w.ImageInfo.Validate(); err != nil || w.ConfigDrive == "" || w.ImageInfo.DiskFormat != "qcow2" {
		t.Errorf("image_info = %+v, %v", w.ImageInfo, err)
	}
}

func TestRecordedResults(t *testing.T) {
	steps := load[Result](t, "clean.get_clean_steps-reply")
	var got Steps
	if err := json.Unmarshal(steps.Result, &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Clean["GenericHardwareManager"]); n != 10 || got.Versions["generic_hardware_manager"] != "1.1" {
		t.Errorf("%d steps, versions %v", n, got.Versions)
	}
	failed := load[Results](t, "commands-failed").Commands
	last := failed[len(failed)-1]
	if last.Status != Failed || last.Error == nil || last.Error.Type != "ImageChecksumError" ||
		!strings.HasPrefix(last.Error.Text(), "Image failed to verify") {
		t.Errorf("failed command = %+v", last)
	}
}

func TestRecordedInspection(t *testing.T) {
	i := load[Inspection](t, "inspection")
	if err := i.Validate(); err != nil {
		t.Fatal(err)
	}
	want := Disk{Name: "/dev/vda", Size: 8589934592, Rotational: true, Serial: "H6D", Vendor: "0x1af4",
		ByPath: "/dev/disk/by-path/pci-0000:00:02.0"}
	if diff := cmp.Diff(want, *i.RootDisk); diff != "" {
		t.Error(diff)
	}
	if load[InspectionReply](t, "continue_inspection-reply").UUID != "" {
		t.Error("the recorded reply has no uuid")
	}
}

func beat(callback string) Heartbeat {
	return Heartbeat{AgentToken: "t", AgentVersion: "v", CallbackURL: callback}
}

func inspected(change func(*Inventory)) Inspection {
	i := Inventory{Interfaces: []Interface{{MACAddress: "52:54:00:00:00:01"}}}
	change(&i)
	return Inspection{Inventory: i}
}

func TestValidateRefuses(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	image := ImageInfo{ID: "i", URLs: []string{"http://h/i"}, OSHashAlgo: "sha256", OSHashValue: sum}
	with := func(change func(*ImageInfo)) ImageInfo { i := image; change(&i); return i }
	tests := map[string]struct {
		v    interface{ Validate() error }
		want string // part of the error; "" for none
	}{
		"image":           {image, ""},
		"image no id":     {with(func(i *ImageInfo) { i.ID = "" }), "id is missing"},
		"image no url":    {with(func(i *ImageInfo) { i.URLs = nil }), "urls is empty"},
		"image file url":  {with(func(i *ImageInfo) { i.URLs = []string{"file:///etc/shadow"} }), "not an http(s) URL"},
		"image type":      {with(func(i *ImageInfo) { i.ImageType = "bootc" }), "expected whole-disk or partition"},
		"image partition": {with(func(i *ImageInfo) { i.ImageType, i.RootMB = PartitionImage, 1 }), ""},
		"image no root":   {with(func(i *ImageInfo) { i.ImageType = PartitionImage }), "root_mb is 0, expected 1 or more"},
		"image swap": {with(func(i *ImageInfo) { i.ImageType, i.RootMB, i.SwapMB = PartitionImage, 1, -1 }),
			"swap_mb is -1"},
		"image too large": {with(func(i *ImageInfo) { i.ImageType, i.RootMB = PartitionImage, 1<<40+1 }),
			"root_mb is 1099511627777"},
		"image label": {with(func(i *ImageInfo) { i.ImageType, i.RootMB, i.DiskLabel = PartitionImage, 1, "bsd" }),
			`disk_label is "bsd"`},
		"image no sum":      {with(func(i *ImageInfo) { i.OSHashAlgo, i.OSHashValue = "", "" }), "cannot be verified"},
		"image half sum":    {with(func(i *ImageInfo) { i.OSHashAlgo = "" }), "go together"},
		"image odd sum":     {with(func(i *ImageInfo) { i.OSHashValue = "xyz" }), "not hexadecimal"},
		"lookup no uuid":    {LookupReply{Config: LookupConfig{HeartbeatTimeout: 1}}, "node.uuid"},
		"lookup no timeout": {LookupReply{Node: LookupNode{UUID: "u"}}, "heartbeat_timeout"},
		"lookup short": {
			LookupReply{Node: LookupNode{UUID: "u"}, Config: LookupConfig{HeartbeatTimeout: 1, AgentToken: "x"}}, "at least 32",
		},
		"progress":          {Progress{AgentToken: "t", Step: "s", Done: 1}, ""},
		"progress negative": {Progress{AgentToken: "t", Step: "s", Done: -1}, "negative"},
		"log":               {LogLines{AgentToken: "t", Lines: []string{"a"}}, ""},
		"log no token":      {LogLines{}, "agent_token is missing"},
		"log before":        {LogLines{AgentToken: "t", First: -1}, "negative"},
		"log too long":      {LogLines{AgentToken: "t", Lines: make([]string, MaxLogLines+1)}, "at most 10000"},
		"command no dot":    {Command{Name: "nodot", Params: json.RawMessage(`{}`)}, "<extension>.<name>"},
		"command list":      {Command{Name: "a.b", Params: json.RawMessage(`[]`)}, "not an object"},
		"progress long":     {Progress{AgentToken: "t", Step: "s", Stage: strings.Repeat("s", 256)}, "at most 255"},
		"heartbeat":         {beat("https://10.0.0.5:9999/"), ""},
		"heartbeat IPv6":    {beat("https://[fd00::5]:9999"), ""},
		"heartbeat path":    {beat("https://10.0.0.5/agents/web-1"), ""},
		"heartbeat query":   {beat("https://10.0.0.5/?x="), "more than an agent's"},
		"heartbeat mark":    {beat("https://10.0.0.5?"), "more than an agent's"},
		"heartbeat user":    {beat("https://u:p@10.0.0.5"), "more than an agent's"},
		"heartbeat hash":    {beat("https://10.0.0.5/#x"), "more than an agent's"},
		"heartbeat long":    {beat("https://" + strings.Repeat("h", 255)), "callback_url has 263"},
		"heartbeat version": {Heartbeat{AgentToken: "t", CallbackURL: "https://h", AgentVersion: strings.Repeat("1", 256)},
			"agent_version has 256"},
		"heartbeat CA": {
			Heartbeat{AgentToken: "t", CallbackURL: "https://h", AgentVersion: "1", AgentVerifyCA: strings.Repeat("1", 1<<17)},
			"agent_verify_ca has 131072",
		},
		"inspection arch": {inspected(func(i *Inventory) { i.CPU.Architecture = strings.Repeat("x", 256) }),
			"architecture has 256"},
		"inspection name": {inspected(func(i *Inventory) { i.Interfaces[0].Name = strings.Repeat("x", 256) }),
			"interfaces[0].name has 256"},
		"inspection mode": {inspected(func(i *Inventory) { i.Boot.CurrentBootMode = "uefi,trusted:true" }),
			"neither bios nor uefi"},
		"heartbeat no url": {Heartbeat{AgentToken: "t", AgentVersion: "v", CallbackURL: "ftp://x"}, "not an http(s) URL"},
		"inspection mac": {Inspection{Inventory: Inventory{Interfaces: []Interface{{MACAddress: "zz"}}}},
			"has a MAC address"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.v.Validate()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error = %v, want part %q", err, tc.want)
			}
		})
	}
}

func FuzzCommand(f *testing.F) {
	f.Add([]byte(`{"name":"clean.execute_clean_step","params":{"step":{"step":"x"},"node":{},"ports":[]}}`))
	f.Add([]byte(`{"name":"deploy.execute_deploy_step","params":{"step":{"step":"w","args":{"image_info":{"id":1}}}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Command
		if json.Unmarshal(b, &c) != nil || c.Validate() != nil {
			return
		}
		var p StepParams
		if json.Unmarshal(c.Params, &p) == nil {
			if s, err := p.Parsed(); err == nil && s.Step == "" {
				t.Error("a nameless step was accepted")
			}
		}
	})
}

// TestDecode: an odd value costs itself alone.
func TestDecode(t *testing.T) {
	var i Inspection
	odd, err := Decode([]byte(`{"inventory":{"interfaces":[{"mac_address":7},{"mac_address":"52-54-00-00-00-01"},`+
		`{"mac_address":"N/A"}],"cpu":{"count":"8","architecture":"x86_64"},"disks":[{"name":"/dev/sda","size":"1"}]}}`), &i)
	if err != nil || !strings.Contains(odd, "mac_address") || i.Validate() != nil ||
		!slices.Equal(i.Inventory.MACs(), []string{"52:54:00:00:00:01"}) ||
		i.Inventory.CPU.Architecture != "x86_64" || len(i.Inventory.Disks) != 1 {
		t.Errorf("%q, %v, %+v", odd, err, i)
	}
	if _, err := Decode([]byte(`{"inventory":`), &i); err == nil {
		t.Error("half a document is taken")
	}
}
