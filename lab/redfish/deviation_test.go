package redfish

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// deviant is a bench with a controller of one deviation, and with a stopped clock.
func deviant(t *testing.T, all ...Deviation) *bench {
	t.Helper()
	return newBench(t, func(c *Config) {
		c.Personality = Personality{Name: "test", Manufacturer: "Maker", Model: "M1", Deviations: all}
		c.Delays = Delays{Answer: 20 * time.Millisecond}
	})
}

const (
	onceFull = `{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once",
		"BootSourceOverrideMode": "UEFI"}}`
	oncePXE    = `{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`
	alwaysDisk = `{"Boot": {"BootSourceOverrideTarget": "Hdd", "BootSourceOverrideEnabled": "Continuous"}}`
	legacyMode = `{"Boot": {"BootSourceOverrideMode": "Legacy"}}`
	turnOn     = `{"ResetType": "On"}`
	turnOff    = `{"ResetType": "ForceOff"}`
)

// wireTests has a test of each deviation, as a client sees it.
var wireTests = map[Deviation]func(t *testing.T, b *bench){
	ModeFallsBack: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, oncePXE, 204)
		if b.machine.Boot().Firmware != qemu.BIOS {
			t.Error("the mode did not fall back")
		}
		b.Send(t, patch, systemPath, onceFull, 204)
		if b.machine.Boot().Firmware != qemu.UEFI {
			t.Error("the mode that was sent was not taken")
		}
	},
	FullBootRequest: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, oncePXE, 400)
		b.Send(t, patch, systemPath, legacyMode, 400)
		b.Send(t, patch, systemPath, onceFull, 204)
	},
	ModeRefusedAlong: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, onceFull, 400)
		b.Send(t, patch, systemPath, oncePXE, 204)
		b.Send(t, patch, systemPath, legacyMode, 204)
	},
	ModeMissing: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, onceFull, 400)
		b.Send(t, patch, systemPath, oncePXE, 204)
		if _, shown := b.Read(t, systemPath)["Boot"].(map[string]any)["BootSourceOverrideMode"]; shown {
			t.Error("a mode is shown")
		}
	},
	TargetAloneKept: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, onceFull, 204)
		if boot := b.Read(t, systemPath)["Boot"].(map[string]any); boot["BootSourceOverrideEnabled"] != "Disabled" {
			t.Errorf("kept: %v", boot)
		}
	},
	NoContinuous: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, alwaysDisk, 400)
		b.Send(t, patch, systemPath, oncePXE, 204)
		listed(t, b, "BootSourceOverrideEnabled", "Continuous", false)
	},
	ContinuousRefused: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, alwaysDisk, 400)
		listed(t, b, "BootSourceOverrideEnabled", "Continuous", true)
	},
	UsbCd: func(t *testing.T, b *bench) {
		listed(t, b, "BootSourceOverrideTarget", "Cd", false)
		b.Send(t, patch, systemPath, strings.Replace(oncePXE, "Pxe", "Cd", 1), 400)
		b.Send(t, patch, systemPath, strings.Replace(oncePXE, "Pxe", "UsbCd", 1), 204)
		if got := boot(t, b)["BootSourceOverrideTarget"]; got != "UsbCd" || b.machine.Boot().Target != qemu.TargetCd {
			t.Errorf("target %v of %+v", got, b.machine.Boot())
		}
	},
	CdIsADrive: func(t *testing.T, b *bench) {
		for sent, booted := range map[string]qemu.Target{"Cd": qemu.TargetNone, "UsbCd": qemu.TargetCd} {
			listed(t, b, "BootSourceOverrideTarget", sent, true)
			b.Send(t, patch, systemPath, strings.Replace(oncePXE, "Pxe", sent, 1), 204)
			if got := boot(t, b)["BootSourceOverrideTarget"]; got != sent || b.machine.Boot().Target != booted {
				t.Errorf("%s: target %v of %+v", sent, got, b.machine.Boot())
			}
		}
	},
	CdByAttribute: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, strings.Replace(oncePXE, "Pxe", "Cd", 1), 204)
		if b.machine.Boot().Target != qemu.TargetNone {
			t.Errorf("Cd boots %+v", b.machine.Boot())
		}
		const attributes = `{"Attributes": {"ServerBoot.1.BootOnce": "Enabled", "ServerBoot.1.FirstBootDevice": "VCD-DVD"}}`
		b.Send(t, patch, attributesPath, attributes, 204)
		if b.machine.Boot().Target != qemu.TargetCd {
			t.Errorf("the attribute boots %+v", b.machine.Boot())
		}
	},
	BootInSettings: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, oncePXE, 405)
		b.Send(t, patch, systemSettingsPath, oncePXE, 204)
		if b.Read(t, systemPath)["@Redfish.Settings"] == nil || b.machine.Boot().Target != qemu.TargetPxe {
			t.Errorf("no link to the settings, or they were not taken: %+v", b.machine.Boot())
		}
	},
	ModeByJob: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, oncePXE, 204)
		b.Send(t, patch, systemPath, legacyMode, 204)
		b.Send(t, post, resetPath, turnOn, 204)
		if got := boot(t, b); got["BootSourceOverrideMode"] != "UEFI" || got["BootSourceOverrideTarget"] != "None" {
			t.Errorf("in the job's POST: %v", got)
		}
		b.clock.Advance(time.Minute)
		b.Read(t, systemPath)
		if got := boot(t, b); got["BootSourceOverrideMode"] != "Legacy" || len(b.machine.Pressed()) != 2 {
			t.Errorf("after the job: %v, pressed %v", got, b.machine.Pressed())
		}
	},
	BiosByJob: func(t *testing.T, b *bench) {
		b.Send(t, patch, biosSettingsPath, `{"Attributes": {"QuietBoot": false}}`, 204)
		b.Send(t, post, resetPath, turnOn, 204)
		if len(b.State().PendingBIOS) != 1 {
			t.Error("the settings were taken before the job's end")
		}
		b.clock.Advance(time.Minute)
		if b.Read(t, systemPath); len(b.State().PendingBIOS) != 0 || len(b.machine.Pressed()) != 2 {
			t.Errorf("after the job: pending %v, pressed %v", b.State().PendingBIOS, b.machine.Pressed())
		}
	},

	ETagsWeak: func(t *testing.T, b *bench) {
		if tag := tagOf(t, b); !strings.HasPrefix(tag, `W/"`) {
			t.Errorf("the tag is %s", tag)
		}
		ifMatch(t, b, tagOf(t, b), 204)
	},
	ETagsWeakRefused: func(t *testing.T, b *bench) {
		ifMatch(t, b, "W/"+tagOf(t, b), 412)
		if response, _ := b.Call(t, post, resetPath, turnOn, "If-Match", "W/"+tagOf(t, b)); response.StatusCode != 412 {
			t.Errorf("a reset with a weak tag: %s", response.Status)
		}
		ifMatch(t, b, tagOf(t, b), 204)
	},
	ETagsUnquoted: func(t *testing.T, b *bench) {
		if tag := tagOf(t, b); strings.Contains(tag, `"`) {
			t.Errorf("the tag is %s", tag)
		}
		ifMatch(t, b, tagOf(t, b), 204)
	},
	ETagsQuotedRefused: func(t *testing.T, b *bench) {
		ifMatch(t, b, tagOf(t, b), 412)
		ifMatch(t, b, strings.Trim(tagOf(t, b), `"`), 204)
	},
	ETagsNeverMatch: func(t *testing.T, b *bench) {
		ifMatch(t, b, tagOf(t, b), 412)
		ifMatch(t, b, "*", 412)
		b.Send(t, patch, systemPath, oncePXE, 204)
	},
	ETagsRequired: func(t *testing.T, b *bench) {
		b.Send(t, patch, systemPath, oncePXE, 428)
		ifMatch(t, b, tagOf(t, b), 204)
		b.Send(t, post, resetPath, turnOn, 204)
	},
	ETagsNotForActions: func(t *testing.T, b *bench) {
		if response, _ := b.Call(t, post, resetPath, turnOn, "If-Match", tagOf(t, b)); response.StatusCode != 412 {
			t.Errorf("a reset with a tag: %s", response.Status)
		}
		b.Send(t, post, resetPath, turnOn, 204)
		ifMatch(t, b, tagOf(t, b), 204)
	},
	GzipWeakensETags: func(t *testing.T, b *bench) {
		response, _ := b.Call(t, get, systemPath, "", "Accept-Encoding", "gzip")
		if response.Header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(response.Header.Get("ETag"), "W/") {
			t.Errorf("the answer has %v", response.Header)
		}
		response, _ = b.Call(t, get, systemPath, "", "Accept-Encoding", "identity")
		if response.Header.Get("Content-Encoding") != "" || strings.HasPrefix(response.Header.Get("ETag"), "W/") {
			t.Errorf("the plain answer has %v", response.Header)
		}
	},
	IdentityRefused: func(t *testing.T, b *bench) {
		for encoding, want := range map[string]int{"identity": 406, "gzip": 200} {
			response, _ := b.Call(t, get, registryPath+"/Base", "", "Accept-Encoding", encoding)
			if response.StatusCode != want {
				t.Errorf("%s: %s", encoding, response.Status)
			}
		}
	},

	MediaWantsCredentials: func(t *testing.T, b *bench) {
		inserting(t, b, `"Inserted": true`, 400)
		inserting(t, b, `"UserName": "none", "Password": "none"`, 204)
	},
	MediaWantsProtocol: func(t *testing.T, b *bench) {
		inserting(t, b, `"Inserted": true`, 400)
		inserting(t, b, `"TransferProtocolType": "HTTP"`, 204)
	},
	MediaRefusesFlags: func(t *testing.T, b *bench) {
		inserting(t, b, `"Inserted": true`, 400)
		inserting(t, b, `"WriteProtected": true`, 400)
		inserting(t, b, `"TransferMethod": "Stream"`, 204)
	},
	MediaByPatch: func(t *testing.T, b *bench) {
		if b.Read(t, mediaPath)["Actions"] != nil {
			t.Error("there are actions")
		}
		image := serveImage(t)
		b.Send(t, patch, mediaPath, `{"Image": "`+image+`"}`, 400)
		b.Send(t, patch, mediaPath, `{"Image": "`+image+`", "Inserted": true}`, 204)
		b.Send(t, patch, mediaPath, `{"Image": null, "Inserted": false}`, 204)
		if b.machine.Media() != "" {
			t.Error("the drive is not empty")
		}
	},
	SlowEject: func(t *testing.T, b *bench) {
		inserting(t, b, `"Inserted": true`, 204)
		b.Send(t, post, mediaPath+ejectAction, `{}`, 204)
		if b.Read(t, mediaPath)["Inserted"] != true {
			t.Error("the image is gone at once")
		}
		inserting(t, b, `"Inserted": true`, 500)
		b.clock.Advance(time.Minute)
		if b.Read(t, mediaPath)["Inserted"] != false {
			t.Error("the image is still there")
		}
		inserting(t, b, `"Inserted": true`, 204)
	},
	EjectWantsBody: func(t *testing.T, b *bench) {
		b.Send(t, post, mediaPath+ejectAction, "", 415)
		b.Send(t, post, mediaPath+ejectAction, "{}", 204)
	},

	BusyAfterPowerOff: func(t *testing.T, b *bench) {
		b.Send(t, post, resetPath, turnOn, 204)
		b.Send(t, post, resetPath, turnOff, 204)
		response, body := b.Call(t, post, resetPath, turnOn)
		if response.StatusCode != 409 || messageOf(t, body) != "ActionParameterValueConflict" {
			t.Errorf("%s %s", response.Status, body)
		}
		b.clock.Advance(time.Minute)
		b.Send(t, post, resetPath, turnOn, 204)
	},
	BootLockedInPOST: func(t *testing.T, b *bench) {
		b.Send(t, post, resetPath, turnOn, 204)
		response, body := b.Call(t, patch, systemPath, oncePXE)
		if response.StatusCode != 400 || !strings.Contains(body, "UnableToModifyDuringSystemPOST") {
			t.Errorf("%s %s", response.Status, body)
		}
		b.clock.Advance(5 * time.Minute)
		b.Send(t, patch, systemPath, oncePXE, 204)
	},
	BusyAfterReset: func(t *testing.T, b *bench) {
		b.Send(t, post, resetPath, turnOn, 204)
		response, body := b.Call(t, post, resetPath, turnOff)
		if response.StatusCode != 400 || !strings.Contains(body, "iLO.") ||
			!strings.Contains(body, "InvalidOperationForSystemState") {
			t.Errorf("%s %s", response.Status, body)
		}
		b.clock.Advance(time.Minute)
		b.Send(t, post, resetPath, turnOff, 204)
	},
	NotReady: func(t *testing.T, b *bench) {
		b.Send(t, post, resetPath, turnOn, 204)
		response, body := b.Call(t, patch, systemPath, oncePXE)
		if response.StatusCode != 500 || !strings.Contains(body, "SYS518") {
			t.Errorf("%s %s", response.Status, body)
		}
		b.Send(t, get, biosPath, "", 500)
		b.Send(t, get, systemPath, "", 200)
		b.clock.Advance(time.Minute)
		b.Send(t, patch, systemPath, oncePXE, 204)
	},
	AlreadyThereRefused: func(t *testing.T, b *bench) {
		b.Send(t, post, resetPath, turnOff, 409)
		b.Send(t, post, resetPath, turnOn, 204)
		if response, body := b.Call(t, post, resetPath, turnOn); response.StatusCode != 409 ||
			!strings.Contains(body, "host is powered on") {
			t.Errorf("%s %s", response.Status, body)
		}
	},
	PowerInSteps: func(t *testing.T, b *bench) {
		for _, step := range []struct{ reset, now, then string }{
			{turnOn, "PoweringOn", "On"}, {turnOff, "PoweringOff", "Off"},
		} {
			b.Send(t, post, resetPath, step.reset, 204)
			if got := b.Read(t, systemPath)["PowerState"]; got != step.now {
				t.Errorf("%s: at once %v", step.reset, got)
			}
			b.clock.Advance(time.Minute)
			if got := b.Read(t, systemPath)["PowerState"]; got != step.then {
				t.Errorf("%s: later %v", step.reset, got)
			}
		}
	},
	ResetByTask: func(t *testing.T, b *bench) {
		response := b.Send(t, post, resetPath, turnOn, 202)
		if response.Header.Get("Location") == "" || b.machine.Power() != qemu.On {
			t.Errorf("no task, or no power: %v", response.Header)
		}
	},

	SlowAnswers: func(t *testing.T, b *bench) {
		start := time.Now()
		if b.Read(t, rootPath); time.Since(start) < 20*time.Millisecond {
			t.Error("the answer came at once")
		}
	},
	BusyAtTimes: func(t *testing.T, b *bench) {
		busy := 0
		for range atTimes {
			if response, _ := b.Call(t, get, rootPath, ""); response.StatusCode == 503 {
				busy++
				if response.Header.Get("Retry-After") != "1" {
					t.Error("no Retry-After")
				}
			}
		}
		if busy != 1 {
			t.Errorf("%d of %d answers were 503", busy, atTimes)
		}
	},
	CutAtTimes: func(t *testing.T, b *bench) {
		cut := 0
		for range atTimes {
			cut += cutAnswers(t, b)
		}
		if cut != 1 {
			t.Errorf("%d of %d answers were cut", cut, atTimes)
		}
	},
	LegacyTLS: func(t *testing.T, b *bench) { legacyHandshakes(t, b) },

	ExpandFalse: func(t *testing.T, b *bench) {
		features, ok := b.Read(t, rootPath)["ProtocolFeaturesSupported"].(map[string]any)
		if !ok || features["ExpandQuery"] != false {
			t.Errorf("features %v", features)
		}
	},
	CoresAsText: func(t *testing.T, b *bench) {
		if doc := b.Read(t, systemPath+"/Processors/1"); doc["TotalCores"] != "2" || doc["TotalThreads"] != "2" {
			t.Errorf("%v", doc)
		}
	},
	KindsMixed: func(t *testing.T, b *bench) {
		doc := b.Read(t, systemPath)
		memory, _ := doc["MemorySummary"].(map[string]any)
		if size, is := memory["TotalSystemMemoryGiB"].(string); doc["AssetTag"] != 12345.0 || !is || size == "" {
			t.Errorf("%v", doc)
		}
	},
	ProcessorsMissing: func(t *testing.T, b *bench) {
		if doc := b.Read(t, systemPath); doc["Processors"] != nil || doc["Memory"] == nil {
			t.Errorf("%v", doc)
		}
	},
	MemberMissing: func(t *testing.T, b *bench) {
		var c struct {
			Members []link
			Count   int `json:"Members@odata.count"`
		}
		_, body := b.Call(t, get, systemPath+"/EthernetInterfaces", "")
		if err := json.Unmarshal([]byte(body), &c); err != nil || len(c.Members) != 3 || c.Count != 3 {
			t.Fatalf("%s %v", body, err)
		}
		b.Send(t, get, c.Members[2].ODataID, "", 404)
	},
	VendorEmpty: func(t *testing.T, b *bench) {
		if doc := b.Read(t, systemPath); doc["Manufacturer"] != "" {
			t.Errorf("%v", doc)
		}
	},
	TwoSystems: func(t *testing.T, b *bench) {
		if doc := b.Read(t, rootPath+"/Systems"); doc["Members@odata.count"] != 2.0 {
			t.Errorf("%v", doc)
		}
		if doc := b.Read(t, rootPath+"/Systems/HGX_Baseboard_0"); doc["PowerState"] != nil {
			t.Errorf("%v", doc)
		}
	},
}

// Each row of the table has its effect, and each has its source.
func TestDeviations(t *testing.T) {
	seen := map[Deviation]bool{}
	for _, row := range Deviations() {
		if row.Meaning == "" || row.Seen == "" || row.Source == "" || seen[row.Name] {
			t.Errorf("row %+v is not complete, or there twice", row)
		}
		seen[row.Name] = true
		test := wireTests[row.Name]
		if test == nil {
			t.Errorf("deviation %s has no test", row.Name)
			continue
		}
		t.Run(string(row.Name), func(t *testing.T) { test(t, deviant(t, row.Name)) })
	}
	for name := range wireTests {
		if !seen[name] {
			t.Errorf("deviation %s has no row", name)
		}
	}
}
