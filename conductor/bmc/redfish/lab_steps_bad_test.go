package redfish_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// An impossible step is refused for good, names the remedy, and changes nothing.
func TestStepsRefuse(t *testing.T) {
	disk := func(pairs ...any) map[string]any {
		d := map[string]any{"size_gb": 50, "raid_level": "1"}
		for i := 0; i+1 < len(pairs); i += 2 {
			d[pairs[i].(string)] = pairs[i+1]
		}
		return d
	}
	apply := func(d ...map[string]any) map[string]any {
		return map[string]any{"raid_config": raid(d...), "delete_existing": true}
	}
	tests := []struct {
		name, step string
		arguments  map[string]any
		want       string
	}{
		{"unknown step", "bios.polish", nil, "redfish has no step bios.polish: it has bios.factory_reset, "},
		{"no settings", "bios.apply_configuration", nil, "settings is empty"},
		{"misspelt argument", "bios.apply_configuration", map[string]any{"setting": []any{}},
			`the step's arguments are wrong: json: unknown field "setting"`},
		{"wrong attribute", "bios.apply_configuration", settings("Turbo", "Enabled"),
			`the BIOS has no setting "Turbo"; it has AssetTag, `},
		{"misspelt attribute", "bios.apply_configuration", settings("logicalproc", "Enabled"),
			`the BIOS has no setting "logicalproc", but "LogicalProc"`},
		{"read-only attribute", "bios.apply_configuration", settings("SystemFirmware", "Mine"),
			"SystemFirmware is read only"},
		{"value not allowed", "bios.apply_configuration", settings("LogicalProc", "On"),
			"LogicalProc cannot be On, only one of Enabled, Disabled"},
		{"number too large", "bios.apply_configuration", settings("BootDelaySeconds", 61),
			"BootDelaySeconds cannot be 61, only a whole number from 0 to 60"},
		{"no number", "bios.apply_configuration", settings("BootDelaySeconds", "soon"), "BootDelaySeconds cannot be soon"},
		{"no truth", "bios.apply_configuration", settings("QuietBoot", "maybe"),
			"QuietBoot cannot be maybe, only true or false"},
		{"text too long", "bios.apply_configuration", settings("AssetTag", strings.Repeat("x", 33)),
			"only a text of the length that the BIOS allows"},
		{"twice", "bios.apply_configuration", settings("AssetTag", "x", "AssetTag", "y"), "AssetTag is there twice"},
		{"one good, two bad", "bios.apply_configuration", settings("AssetTag", "x", "Turbo", 1, "LogicalProc", 2),
			"; LogicalProc cannot be 2"},
		{"no configuration", "raid.create_configuration", nil,
			"has no logical_disks: set the node's target_raid_config first"},
		{"unknown level", "raid.apply_configuration", apply(disk("raid_level", "7")), "redfish knows only the levels"},
		{"unknown key", "raid.apply_configuration", apply(disk("colour", "red")), `unknown field "colour"`},
		{"no size", "raid.apply_configuration", apply(disk("size_gb", 0)),
			"size_gb must be a whole number of at least 1, or MAX"},
		{"MAX of nothing", "raid.apply_configuration", apply(disk("size_gb", "MAX")),
			"MAX needs physical_disks or number_of_physical_disks"},
		{"mirror of three", "raid.apply_configuration", apply(disk("number_of_physical_disks", 3)),
			"level 1 cannot be made of 3 drives, it takes exactly 2"},
		{"mirrors of five", "raid.apply_configuration", apply(disk("raid_level", "1+0", "number_of_physical_disks", 5)),
			"it takes an even number of at least 4"},
		{"numbers differ", "raid.apply_configuration",
			apply(disk("number_of_physical_disks", 2, "physical_disks", []any{"1"})),
			"number_of_physical_disks is 2, and there are 1"},
		{"software", "raid.apply_configuration", apply(disk("controller", "software")), "use the raid interface agent"},
		{"shared drives", "raid.apply_configuration", apply(disk("share_physical_disks", true)),
			"give every logical disk drives of its own"},
		{"no such drive", "raid.apply_configuration", apply(disk("physical_disks", []any{"1", "9"})),
			"no free drives suit it; the drives are 1 (SAS HDD, 100 GiB, "},
		{"no such kind of drive", "raid.apply_configuration", apply(disk("disk_type", "ssd")), "no free drives suit it"},
		{"no such controller", "raid.apply_configuration", apply(disk("controller", "RAID.2")), "no free drives suit it"},
		{"too large", "raid.apply_configuration", apply(disk("size_gb", 101)), "no free drives suit it"},
		{"level the controller lacks", "raid.apply_configuration", apply(disk("raid_level", "5+0", "size_gb", 1)),
			"no free drives suit it"},
		{"one fits, two do not", "raid.apply_configuration",
			apply(disk(), disk("physical_disks", []any{"1", "4"}, "size_gb", 1), disk()), "no free drives suit it"},
		{"no updates", "firmware.update", map[string]any{"settings": []any{}}, "settings is empty"},
		{"unknown component", "firmware.update", updates("cpld", "http://x/y"), `the component "cpld" is not known`},
		{"image by ftp", "firmware.update", updates("bios", "ftp://x/y"), "must be one of http or https"},
		{"second update wrong", "firmware.update", updates("bios", "http://x/y", "bmc", ""), "the url of the component bmc"},
		{"argument where there is none", "management.reset_bmc", map[string]any{"force": true}, `unknown field "force"`},
	}
	s := newStage(t)
	s.Send(t, "POST", volumesPath, mirrorRequest, 202)
	s.clock.Advance(taskTime)
	before := s.state(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, err := s.do(t, tt.step, tt.arguments)
			if err == nil || !strings.Contains(err.Error(), tt.want) || s.calls != 0 {
				t.Errorf("after %d calls %+v, %v\nexpected %s", s.calls, report, err, tt.want)
			}
			if diff := cmp.Diff(before, s.state(t)); diff != "" {
				t.Errorf("it changed something:\n%s", diff)
			}
		})
	}
}

// BMCs that obey and fail, or claim success without doing it.
func TestStepsFail(t *testing.T) {
	url := redfishtest.Images(t)
	mirror := map[string]any{
		"raid_config": raid(map[string]any{"size_gb": "MAX", "raid_level": "1", "number_of_physical_disks": 2}),
	}
	tests := []struct {
		name, step string
		arguments  map[string]any
		fault      lab.Fault
		want       string
		tasks      int
	}{
		{"settings not taken", "bios.apply_configuration", settings("LogicalProc", "Disabled"),
			lab.Fault{Kind: lab.SettingsLost},
			"the BMC did not take BIOS settings: LogicalProc: expected Disabled, found Enabled", 0},
		{"image missing", "firmware.update", updates("bios", url+"/gone"), lab.Fault{},
			"expected status 200, found 404 Not Found", 1},
		{"image not reachable", "firmware.update", updates("bios", "http://127.0.0.1:1/BIOS-2.0"), lab.Fault{},
			"connection refused", 1},
		{"no image", "firmware.update", updates("bios", url+"/junk-1"), lab.Fault{}, "is no firmware image", 1},
		{"update fails", "firmware.update", updates("bios", url+"/BIOS-2.0", "bmc", url+"/BMC-2.0"),
			lab.Fault{Kind: lab.TaskException, Times: 1},
			"update bios with " + url + "/BIOS-2.0: the BMC's task " + tasksPath + "/Tasks/1 ended as Exception: ", 1},
		{"volume fails", "raid.apply_configuration", mirror, lab.Fault{Kind: lab.TaskException, Times: 1},
			"ended as Exception: Volumes failed: fault task-exception is in force", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			if tt.fault.Kind != "" {
				s.setFault(t, tt.fault)
			}
			report, err := s.do(t, tt.step, tt.arguments)
			var p interface{ Permanent() bool }
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &p) || !p.Permanent() {
				t.Errorf("%+v, %v\nexpected for good %s", report, err, tt.want)
			}
			if s.State().Tasks != tt.tasks {
				t.Errorf("the BMC was given %d tasks, expected %d", s.State().Tasks, tt.tasks)
			}
			s.ClearFault()
			if strings.HasPrefix(tt.step, "firmware") {
				return
			}
			if report, err := s.do(t, tt.step, tt.arguments); err != nil || !report.Done {
				t.Errorf("once the BMC is well: %+v, %v", report, err)
			}
		})
	}
}

// setFault makes the controller fail.
func (s *stage) setFault(t *testing.T, f lab.Fault) {
	t.Helper()
	if err := s.SetFault(f); err != nil {
		t.Fatal(err)
	}
}

// restart resets the controller, unless it is silent because a step has just done so.
func (s *stage) restart(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+managerPath+"/Actions/Manager.Reset",
		strings.NewReader(`{"ResetType": "ForceRestart"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(redfishtest.User, redfishtest.Password)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		return
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("reset of the controller: %s", answer.Status)
	}
}

// A reset of the BMC in the middle of a step costs the step time and no more.
func TestStepsThroughRestart(t *testing.T) {
	url := redfishtest.Images(t)
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			quiet := c.stage(t)
			if _, err := quiet.do(t, c.step, c.arguments(url)); err != nil {
				t.Fatal(err)
			}
			want := quiet.state(t)
			s := c.stage(t)
			s.lose = func(call int) bool {
				if call == 1 {
					s.restart(t)
				}
				return false
			}
			if report, err := s.do(t, c.step, c.arguments(url)); err != nil || !report.Done {
				t.Fatalf("%+v, %v", report, err)
			}
			if diff := cmp.Diff(want, s.state(t)); diff != "" {
				t.Errorf("-undisturbed +disturbed:\n%s", diff)
			}
		})
	}
}

// A BMC that is silent before the step has begun is an error that passes. A BMC that falls silent in the middle is
// waited for, but not for ever.
func TestStepsSilence(t *testing.T) {
	url := redfishtest.Images(t)
	s := newStage(t)
	s.wire.lead(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	_, err := s.do(t, "firmware.update", updates("bios", url+"/BIOS-2.0"))
	var p interface{ Permanent() bool }
	if err == nil || errors.As(err, &p) && p.Permanent() {
		t.Errorf("a silent BMC: %v", err)
	}
	s.wire.lead(s.Server)
	update := node.Step{Interface: "firmware", Step: "update", Args: updates("bios", url+"/BIOS-2.0")}
	begun, err := s.driver.DoStep(t.Context(), s.node, update, "")
	if err != nil {
		t.Fatal(err)
	}
	s.wire.lead(http.NotFoundHandler()) // a refusal is no silence
	if _, err := s.driver.DoStep(t.Context(), s.node, update, begun.Task); err == nil {
		t.Error("a refusal was borne")
	}
	s.wire.lead(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	silent, err := s.driver.DoStep(t.Context(), s.node, update, begun.Task)
	if err != nil || silent.After == 0 || !strings.Contains(silent.Note, "the BMC does not answer") {
		t.Errorf("in the middle: %+v, %v", silent, err)
	}
	hasty := newDriver(t,
		redfish.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond, StepPatience: time.Nanosecond})
	if _, err := hasty.DoStep(t.Context(), s.node, update, silent.Task); err == nil ||
		!strings.Contains(err.Error(), "reset the BMC by hand") {
		t.Errorf("for too long: %v", err)
	}
	s.wire.lead(s.Server)
	if _, err := s.driver.DoStep(t.Context(), s.node, update, silent.Task); err != nil || s.State().Tasks != 1 {
		t.Errorf("once it answers: %v, %d tasks", err, s.State().Tasks)
	}
}

// Nothing is waited for beyond patience.
func TestStepsPatience(t *testing.T) {
	s := newStage(t)
	hasty := newDriver(t, redfish.Options{StepPatience: time.Nanosecond})
	step := func(kind, name string, arguments map[string]any, task string) (node.StepReport, error) {
		return hasty.DoStep(t.Context(), s.node, node.Step{Interface: kind, Step: name, Args: arguments}, task)
	}
	wanted := settings("LogicalProc", "Disabled")
	report, err := step("bios", "apply_configuration", wanted, "")
	if err != nil || !report.Reboot {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := step("bios", "apply_configuration", wanted, report.Task); err == nil ||
		!strings.Contains(err.Error(),
			"still pending 1ns after the machine was restarted: LogicalProc: expected Disabled, found Enabled") {
		t.Errorf("settings pending: %v", err)
	}
	if report, err = step("bios", "factory_reset", nil, ""); err != nil || !report.Reboot {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := step("bios", "factory_reset", nil, report.Task); err == nil ||
		!strings.Contains(err.Error(), "is still pending") {
		t.Errorf("reset pending: %v", err)
	}
	s.setFault(t, lab.Fault{Kind: lab.RestartIgnored})
	task := ""
	for range 2 {
		if report, err = step("management", "reset_bmc", nil, task); err != nil {
			t.Fatal(err)
		}
		task = report.Task
	}
	if _, err := step("management", "reset_bmc", nil, task); err == nil ||
		!strings.Contains(err.Error(), "has not done it") {
		t.Errorf("restart ignored: %v", err)
	}
	if _, err := step("bios", "factory_reset", nil, "{"); err == nil ||
		!strings.Contains(err.Error(), "begin the step anew") {
		t.Errorf("garbled memory: %v", err)
	}
}
