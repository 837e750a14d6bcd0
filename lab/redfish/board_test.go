package redfish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

const (
	volumesPath   = raidPath + "/Volumes"
	mirrorRequest = `{"RAIDType": "RAID1", "Name": "system", "Links": {"Drives": [{"@odata.id": "` + raidPath +
		`/Drives/1"}, {"@odata.id": "` + raidPath + `/Drives/2"}]}}`
)

// ended waits until a task is over that prepares outside the test's clock.
func (b *bench) ended(t *testing.T, id string) map[string]any {
	t.Helper()
	for range 5000 {
		b.clock.Advance(b.config.TaskTime)
		if task := b.Read(t, tasksPath+"/Tasks/"+id); task["EndTime"] != nil {
			return task
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("task %s does not end", id)
	return nil
}

func TestBoardRefusals(t *testing.T) {
	attribute := func(s string) string { return `{"Attributes": {` + s + `}}` }
	disks := func(kind string, ids ...int) string {
		var paths []string
		for _, id := range ids {
			paths = append(paths, fmt.Sprintf(`{"@odata.id": "%s/Drives/%d"}`, raidPath, id))
		}
		return fmt.Sprintf(`{"RAIDType": %q, "Links": {"Drives": [%s]}}`, kind, strings.Join(paths, ","))
	}
	sized := func(n int64) string {
		return strings.Replace(disks("RAID0", 1), "{", fmt.Sprintf(`{"CapacityBytes": %d, `, n), 1)
	}
	const update = updatePath + simpleUpdateAction
	const keys = secureBootPath + resetKeysAction
	const queue = jobServicePath + deleteJobQueueAction
	tests := []struct {
		name, method, path, body string
		status                   int
		message                  string
	}{
		{"no attributes", "PATCH", biosSettingsPath, "{}", 400, "PropertyMissing"},
		{"unknown attribute", "PATCH", biosSettingsPath, attribute(`"Turbo": "Enabled"`), 400, "PropertyUnknown"},
		{"read-only attribute", "PATCH", biosSettingsPath, attribute(`"SystemFirmware": "Mine"`), 400, "PropertyNotWritable"},
		{"value not allowed", "PATCH", biosSettingsPath, attribute(`"LogicalProc": "On"`), 400, "PropertyValueNotInList"},
		{"number out of range", "PATCH", biosSettingsPath, attribute(`"BootDelaySeconds": 61`), 400,
			"PropertyValueOutOfRange"},
		{"not a whole number", "PATCH", biosSettingsPath, attribute(`"BootDelaySeconds": 1.5`), 400,
			"PropertyValueTypeError"},
		{"text too long", "PATCH", biosSettingsPath, attribute(`"AssetTag": "` + strings.Repeat("x", 33) + `"`), 400,
			"PropertyValueOutOfRange"},
		{"number as text", "PATCH", biosSettingsPath, attribute(`"BootDelaySeconds": "5"`), 400, "PropertyValueTypeError"},
		{"text as truth", "PATCH", biosSettingsPath, attribute(`"QuietBoot": "true"`), 400, "PropertyValueTypeError"},
		{"truth as text", "PATCH", biosSettingsPath, attribute(`"AssetTag": true`), 400, "PropertyValueTypeError"},
		{"one good, one bad", "PATCH", biosSettingsPath, attribute(`"AssetTag": "x", "Turbo": 1`), 400, "PropertyUnknown"},
		{"settings at once", "PATCH", biosSettingsPath,
			`{"Attributes": {"AssetTag": "x"}, "@Redfish.SettingsApplyTime": {"ApplyTime": "Immediate"}}`, 400,
			"PropertyValueNotInList"},
		{"values in force are not written", "PATCH", biosPath, attribute(`"AssetTag": "x"`), 405, "OperationNotAllowed"},
		{"no secure boot", "PATCH", secureBootPath, "{}", 400, "PropertyMissing"},
		{"no keys", "POST", keys, "{}", 400, "ActionParameterMissing"},
		{"other keys", "POST", keys, `{"ResetKeysType": "DeletePK"}`, 400, "ActionParameterValueNotInList"},
		{"no RAID type", "POST", volumesPath, `{}`, 400, "PropertyValueNotInList"},
		{"mirror of one", "POST", volumesPath, disks("RAID1", 1), 400, "PropertyValueError"},
		{"mirror of three", "POST", volumesPath, disks("RAID1", 1, 2, 3), 400, "PropertyValueError"},
		{"parity of two", "POST", volumesPath, disks("RAID5", 1, 2), 400, "PropertyValueError"},
		{"two parities of three", "POST", volumesPath, disks("RAID6", 1, 2, 3), 400, "PropertyValueError"},
		{"mirrors of two", "POST", volumesPath, disks("RAID10", 1, 2), 400, "PropertyValueError"},
		{"no such drive", "POST", volumesPath, disks("RAID1", 1, 5), 400, "PropertyValueError"},
		{"a drive twice", "POST", volumesPath, disks("RAID1", 1, 1), 400, "PropertyValueError"},
		{"too large", "POST", volumesPath, sized(100<<30 + 1), 400, "PropertyValueOutOfRange"},
		{"apply some time", "POST", volumesPath, `{"@Redfish.OperationApplyTime": "InMaintenanceWindowOnReset"}`, 400,
			"PropertyValueNotInList"},
		{"no such volume", "DELETE", volumesPath + "/1", "", 404, "ResourceMissingAtURI"},
		{"no such volume to read", "GET", volumesPath + "/1", "", 404, "ResourceMissingAtURI"},
		{"no such task", "GET", tasksPath + "/Tasks/1", "", 404, "ResourceMissingAtURI"},
		{"no such task to watch", "GET", monitorsPath + "/1", "", 404, "ResourceMissingAtURI"},
		{"no such event", "GET", logPath + "/Entries/1", "", 404, "ResourceMissingAtURI"},
		{"no image", "POST", update, "{}", 400, "ActionParameterMissing"},
		{"image by ftp", "POST", update, `{"ImageURI": "ftp://x/y", "TransferProtocol": "FTP"}`, 400,
			"ActionParameterValueNotInList"},
		{"firmware of what is not there", "POST", update, `{"ImageURI": "http://x/y", "Targets": ["` + inventoryPath +
			`/CPLD"]}`, 400, "ActionParameterValueNotInList"},
		{"no job", "POST", queue, "{}", 400, "ActionParameterMissing"},
		{"one job", "POST", queue, `{"JobID": "JID_1"}`, 400, "ActionParameterValueNotInList"},
	}
	b := newBench(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			response, body := b.Call(t, tt.method, tt.path, tt.body)
			if response.StatusCode != tt.status || messageOf(t, body) != tt.message {
				t.Errorf("%s: %s, expected %d %s", response.Status, body, tt.status, tt.message)
			}
		})
	}
	if pending := b.Read(t, biosSettingsPath)["Attributes"]; len(pending.(map[string]any)) != 0 {
		t.Errorf("refused settings are pending: %v", pending)
	}
	b.Send(t, "PATCH", systemPath, `{"Boot": {"BootSourceOverrideMode": "Legacy"}}`, 204)
	b.Send(t, "PATCH", secureBootPath, `{"SecureBootEnable": true}`, 400)
}

// Settings wait for the machine's next start, which an unrelated button is not.
func TestBiosSettings(t *testing.T) {
	b := newBench(t)
	value := func(path string) any { return b.Read(t, path)["Attributes"].(map[string]any)["BootDelaySeconds"] }
	b.Send(t, "PATCH", biosSettingsPath,
		`{"Attributes": {"BootDelaySeconds": 5, "QuietBoot": false}, "@Redfish.SettingsApplyTime": {"@odata.type": "#Settings.v1_3_0.PreferredApplyTime", "ApplyTime": "OnReset"}}`, 204)
	if value(biosPath) != 0.0 || value(biosSettingsPath) != 5.0 {
		t.Errorf("before a start: %v in force, %v pending", value(biosPath), value(biosSettingsPath))
	}
	b.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
	if value(biosPath) != 5.0 || value(biosSettingsPath) != nil {
		t.Errorf("after a start: %v in force, %v pending", value(biosPath), value(biosSettingsPath))
	}
	b.Send(t, "POST", biosPath+resetBiosAction, "", 204)
	b.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
	b.Send(t, "POST", resetPath, `{"ResetType": "Nmi"}`, 204)
	if value(biosPath) != 5.0 || b.Read(t, biosPath)["ResetBiosToDefaultsPending"] != true {
		t.Errorf("a machine that runs was started: %v", b.Read(t, biosPath))
	}
	b.Send(t, "POST", resetPath, `{"ResetType": "ForceRestart"}`, 204)
	if value(biosPath) != 0.0 || b.Read(t, biosPath)["ResetBiosToDefaultsPending"] != false {
		t.Errorf("not reset: %v", b.Read(t, biosPath))
	}
	b.fault(t, Fault{Kind: SettingsLost, Times: 1})
	b.Send(t, "PATCH", biosSettingsPath, `{"Attributes": {"BootDelaySeconds": 7}}`, 204)
	b.Send(t, "POST", resetPath, `{"ResetType": "ForceRestart"}`, 204)
	if value(biosPath) != 0.0 || value(biosSettingsPath) != nil {
		t.Errorf("under the fault: %v in force, %v pending", value(biosPath), value(biosSettingsPath))
	}
}

func TestSecureBoot(t *testing.T) {
	b := newBench(t)
	state := func() string {
		s := b.Read(t, secureBootPath)
		return fmt.Sprintf("%v %v %v", s["SecureBootEnable"], s["SecureBootCurrentBoot"], s["SecureBootMode"])
	}
	var got []string
	note := func() { got = append(got, state()) }
	b.Send(t, "PATCH", secureBootPath, `{"SecureBootEnable": true}`, 204)
	note()
	b.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
	note()
	b.Send(t, "POST", secureBootPath+resetKeysAction, `{"ResetKeysType": "DeleteAllKeys"}`, 204)
	note()
	b.Send(t, "POST", resetPath, `{"ResetType": "ForceRestart"}`, 204)
	note()
	b.Send(t, "POST", secureBootPath+resetKeysAction, `{"ResetKeysType": "ResetAllKeysToDefault"}`, 204)
	b.Send(t, "POST", resetPath, `{"ResetType": "ForceRestart"}`, 204)
	note()
	want := []string{"true Disabled UserMode", "true Enabled UserMode", "true Enabled UserMode", "true Disabled SetupMode",
		"true Enabled UserMode"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVolumes(t *testing.T) {
	b := newBench(t)
	count := func() any { return b.Read(t, volumesPath)["Members@odata.count"] }
	response := b.Send(t, "POST", volumesPath, mirrorRequest, 202)
	monitor := response.Header.Get("Location")
	if b.Send(t, "GET", monitor, "", 202); count() != 0.0 {
		t.Error("the volume is there at once")
	}
	b.Send(t, "POST", volumesPath, mirrorRequest, 409) // its drives are reserved
	b.clock.Advance(b.config.TaskTime / 2)
	if task := b.Read(t, tasksPath+"/Tasks/1"); task["TaskState"] != "Running" || task["PercentComplete"] != 50.0 {
		t.Errorf("half way: %v", task)
	}
	b.clock.Advance(b.config.TaskTime / 2)
	if v := b.Read(t, volumesPath+"/1"); v["CapacityBytes"] != float64(100<<30) || v["RAIDType"] != "RAID1" ||
		v["Name"] != "system" {
		t.Errorf("volume: %v", v)
	}
	b.Send(t, "GET", monitor, "", 200)
	b.Send(t, "POST", volumesPath, mirrorRequest, 409) // its drives are used
	later := `{"@Redfish.OperationApplyTime": "OnReset"}`
	b.Send(t, "DELETE", volumesPath+"/1", later, 202)
	b.Send(t, "DELETE", volumesPath+"/1", later, 409)
	b.clock.Advance(b.config.TaskTime)
	if task := b.Read(t, tasksPath+"/Tasks/2"); task["TaskState"] != "New" || count() != 1.0 {
		t.Errorf("before a start: %v", task)
	}
	b.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
	b.clock.Advance(b.config.TaskTime)
	if task := b.Read(t, tasksPath+"/Tasks/2"); task["TaskState"] != "Completed" || count() != 0.0 {
		t.Errorf("after a start: %v", task)
	}
	b.fault(t, Fault{Kind: TaskException, Times: 1})
	monitor = b.Send(t, "POST", volumesPath, mirrorRequest, 202).Header.Get("Location")
	b.clock.Advance(b.config.TaskTime)
	if b.Send(t, "GET", monitor, "", 500); count() != 0.0 {
		t.Error("a failed task made a volume")
	}
	b.Send(t, "POST", volumesPath, mirrorRequest, 202) // its drives are free again
}

func TestJobQueue(t *testing.T) {
	b := newBench(t)
	later := strings.Replace(mirrorRequest, "{", `{"@Redfish.OperationApplyTime": "OnReset", `, 1)
	b.Send(t, "POST", volumesPath, later, 202)
	b.Send(t, "POST", jobServicePath+deleteJobQueueAction, `{"JobID": "JID_CLEARALL"}`, 204)
	if tasks := b.Read(t, tasksPath+"/Tasks"); tasks["Members@odata.count"] != 0.0 {
		t.Errorf("tasks: %v", tasks)
	}
	b.Send(t, "POST", volumesPath, later, 202) // its drives are free again
}

func TestOnlyOnReset(t *testing.T) {
	b := newBench(t, func(c *Config) { c.RAID.ApplyTimes = []string{"OnReset"} })
	b.Send(t, "POST", volumesPath, strings.Replace(mirrorRequest, "{", `{"@Redfish.OperationApplyTime": "Immediate", `, 1),
		400)
	without := newBench(t, func(c *Config) { c.RAID = RAID{} })
	without.Send(t, "GET", raidPath, "", 404)
	without.Send(t, "GET", volumesPath, "", 404)
	without.Send(t, "POST", volumesPath, mirrorRequest, 404)
}

func TestSimpleUpdate(t *testing.T) {
	b, url := newBench(t), redfishtest.Images(t)
	update := func(image string) { b.Send(t, "POST", updatePath+simpleUpdateAction, `{"ImageURI": "`+image+`"}`, 202) }
	version := func(c component) any { return b.Read(t, inventoryPath+"/"+string(c))["Version"] }
	update(url + "/BIOS-2.0")
	b.Send(t, "POST", updatePath+simpleUpdateAction, `{"ImageURI": "`+url+`/BMC-2.0"}`, 409) // one at a time
	if task := b.ended(t, "1"); task["TaskState"] != "Completed" || version(biosFirmware) != "OVMF" {
		t.Errorf("%v, version %v", task, version(biosFirmware))
	}
	b.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
	if v := b.Read(t, systemPath)["BiosVersion"]; v != "2.0" || version(biosFirmware) != "2.0" {
		t.Errorf("after a start: %v", v)
	}
	for i, bad := range []struct{ image, want string }{
		{url + "/gone", "expected status 200, found 404 Not Found"},
		{url + "/junk-1", "is no firmware image"},
		{"http://127.0.0.1:1/BIOS-3.0", "connection refused"},
	} {
		update(bad.image)
		task := b.ended(t, fmt.Sprint(i+2))
		if text := fmt.Sprint(task["Messages"]); task["TaskState"] != "Exception" || !strings.Contains(text, bad.want) {
			t.Errorf("%s: %v, expected %s", bad.image, task, bad.want)
		}
	}
	// The controller's own ends with its restart.
	update(url + "/BMC-2.0")
	gone := false
	for range 5000 {
		if _, err := b.get(t.Context(), t); err != nil {
			gone = true
			break
		}
		b.clock.Advance(b.config.TaskTime / 4)
		time.Sleep(time.Millisecond)
	}
	if !gone {
		t.Error("the controller does not restart")
	}
	b.clock.Advance(b.config.RestartTime)
	if version(bmcFirmware) != "2.0" {
		t.Errorf("controller runs %v", version(bmcFirmware))
	}
}

func TestManagerReset(t *testing.T) {
	b := newBench(t)
	before := b.Read(t, managerPath)["LastResetTime"]
	b.clock.Advance(time.Second)
	b.Send(t, "POST", managerPath+managerResetAction, `{"ResetType": "ForceRestart"}`, 204)
	if _, err := b.get(t.Context(), t); err == nil {
		t.Error("the controller answers while it restarts")
	}
	b.clock.Advance(b.config.RestartTime)
	if after := b.Read(t, managerPath)["LastResetTime"]; after == before {
		t.Errorf("last reset %v", after)
	}
	if n := b.Read(t, logPath+"/Entries")["Members@odata.count"]; n != 1.0 {
		t.Errorf("%v events", n)
	}
	b.Send(t, "POST", logPath+clearLogAction, "", 204)
	if n := b.Read(t, logPath+"/Entries")["Members@odata.count"]; n != 0.0 {
		t.Errorf("%v events after clearing", n)
	}
	b.fault(t, Fault{Kind: RestartIgnored, Times: 1})
	b.Send(t, "POST", managerPath+managerResetAction, `{"ResetType": "ForceRestart"}`, 204)
	b.Send(t, "GET", managerPath, "", 200)
}
