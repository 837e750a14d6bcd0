package redfish_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

var _ engine.Stepper = (*redfish.Driver)(nil)

// wire is the network between a conductor and the controller: it can lose one
// request, before or after the controller has seen it.
type wire struct {
	mu    sync.Mutex
	next  http.Handler
	seen  int
	lose  int // which one, from 1; 0 for none
	after bool
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen++
	next, lost := w.next, w.seen == w.lose
	w.mu.Unlock()
	if lost {
		if w.after {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}
	next.ServeHTTP(rw, r)
}

// lead lets requests go to h.
func (w *wire) lead(h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = h
}

// stage is a conductor that does one step on the bench, as the engine does: it keeps the step's state, cycles the power
// on request, and calls again after an error that passes.
type stage struct {
	*bench
	wire   *wire
	driver *redfish.Driver
	node   node.Node
	lose   func(call int) bool // whether the answer of a call dies with its conductor
	notes  []string
	most   int // of the progress it reported
	calls  int
}

func newStage(t *testing.T, edit ...func(*lab.Config)) *stage {
	t.Helper()
	s := &stage{bench: newBench(t, edit...), lose: func(int) bool { return false }}
	s.wire = &wire{next: s.Server}
	server := httptest.NewServer(s.wire)
	t.Cleanup(func() {
		if err := s.Close(); err != nil { // ends hanging requests, which server.Close waits for
			t.Errorf("close: %v", err)
		}
		server.Close()
	})
	s.driver = newDriver(t, redfish.Options{BackOff: time.Millisecond, MaxBackOff: time.Millisecond})
	s.node = s.bench.node(redfishtest.Password)
	s.node.DriverInfo["redfish_address"] = server.URL
	s.node.DriverInfo["redfish_auth_type"] = "basic" // a session lost on the wire would be open until it runs out
	return s
}

// maxCallsOfStep ends a test that hangs. Steps of the lab take a dozen calls.
const maxCallsOfStep = 2000

func (s *stage) do(t *testing.T, name string, arguments map[string]any) (node.StepReport, error) {
	t.Helper()
	kind, step, _ := strings.Cut(name, ".")
	task, failures := "", 0
	for s.calls = range maxCallsOfStep {
		report, err := s.driver.DoStep(t.Context(), s.node, node.Step{Interface: kind, Step: step, Args: arguments}, task)
		var p interface{ Permanent() bool }
		var refused *node.Refusal
		switch {
		case errors.As(err, &p) && p.Permanent(), errors.As(err, &refused):
			return report, err
		case err != nil:
			if failures++; failures > 3 {
				return report, err
			}
			continue
		case s.lose(s.calls):
			continue
		}
		failures = 0
		task = report.Task
		s.notes = append(s.notes, report.Note)
		if report.Progress != 0 && report.Progress < s.most {
			t.Errorf("%s reports progress %d after %d", name, report.Progress, s.most)
		}
		s.most = max(s.most, report.Progress)
		if report.Done {
			return report, nil
		}
		if report.Reboot {
			kind := "ForceRestart"
			if s.machine.Power() == "Off" {
				kind = "On"
			}
			s.Send(t, "POST", resetPath, `{"ResetType": "`+kind+`"}`, 204)
		}
		s.clock.Advance(taskTime / 4)
		time.Sleep(time.Millisecond) // downloads do not follow the fake clock
	}
	t.Fatalf("%s is not done after %d calls: %q", name, s.calls, s.notes[max(0, len(s.notes)-3):])
	return node.StepReport{}, nil
}

// state is the state that steps change, and the number of requests for it.
func (s *stage) state(t *testing.T) string {
	t.Helper()
	s.clock.Advance(restartTime)
	state := s.State()
	text, err := json.Marshal([]any{state.BIOS, state.PendingBIOS, state.BIOSReset, state.SecureBootMode,
		state.SecureBootReset})
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	for _, v := range state.Volumes {
		out += fmt.Sprintf(" %s %s %d %v", v.Name, v.RAIDType, v.Bytes, v.Drives)
	}
	return out + fmt.Sprintf(" %v %v foreign %v tasks %d", state.BIOSVersion, state.BMCVersion, state.ForeignVolumes,
		state.Tasks)
}

func settings(pairs ...any) map[string]any {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]any{"name": pairs[i], "value": pairs[i+1]})
	}
	return map[string]any{"settings": list}
}

func updates(pairs ...string) map[string]any {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]any{"component": pairs[i], "url": pairs[i+1]})
	}
	return map[string]any{"settings": list}
}

func raid(disks ...map[string]any) map[string]any {
	var list []any
	for _, d := range disks {
		list = append(list, d)
	}
	return map[string]any{"logical_disks": list}
}

// scenario is a step that succeeds.
type scenario struct {
	name      string
	step      string
	arguments func(images string) map[string]any
	config    func(*lab.Config)
	prepare   func(t *testing.T, s *stage)
	want      string // part of the last state
	tasks     int    // tasks that the BMC got, in prepare too
}

func scenarios() []scenario {
	none := func(string) map[string]any { return nil }
	is := func(a map[string]any) func(string) map[string]any { return func(string) map[string]any { return a } }
	target := func(c map[string]any) func(*testing.T, *stage) {
		return func(_ *testing.T, s *stage) { s.node.TargetRAIDConfig = c }
	}
	onReset := func(c *lab.Config) { c.RAID.ApplyTimes = []string{"OnReset"} }
	mirror := map[string]any{"size_gb": "MAX", "raid_level": "1", "physical_disks": []any{"1", "2"},
		"volume_name": "system", "is_root_volume": true}
	data := map[string]any{"size_gb": 50, "raid_level": "0", "number_of_physical_disks": 1}
	old := func(c map[string]any) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			target(c)(t, s)
			s.Send(t, "POST", volumesPath, strings.NewReplacer("RAID1", "RAID0", "system", "old").Replace(mirrorRequest), 202)
			s.clock.Advance(taskTime)
			s.State() // ends the task
		}
	}
	mirrored := "system RAID1 107374182400 [" + raidPath + "/Drives/1 " + raidPath + "/Drives/2]"
	return []scenario{
		{"bios settings", "bios.apply_configuration",
			is(settings("LogicalProc", "Disabled", "BootDelaySeconds", "5", "QuietBoot", "false")), nil, nil,
			`"BootDelaySeconds":5,"LogicalProc":"Disabled","ProcVirtualization":"Enabled","QuietBoot":false`, 0},
		{"bios reset", "bios.factory_reset", none, nil, func(t *testing.T, s *stage) {
			s.Send(t, "PATCH", biosSettingsPath, `{"Attributes": {"BootDelaySeconds": 5}}`, 204)
			s.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
		}, `"BootDelaySeconds":0`, 0},
		{"volumes", "raid.create_configuration", none, nil, target(raid(data, mirror)), mirrored, 2},
		{"volumes at a start", "raid.create_configuration", none, onReset, target(raid(data, mirror)), mirrored, 2},
		{"root volume alone", "raid.create_configuration", is(map[string]any{"create_nonroot_volumes": false}), nil,
			target(raid(data, mirror)), mirrored, 1},
		{"volumes by argument", "raid.apply_configuration", is(map[string]any{"raid_config": raid(mirror)}), nil, nil,
			mirrored, 1},
		{"volumes anew", "raid.create_configuration", is(map[string]any{"delete_existing": true}), nil, old(raid(mirror)),
			mirrored, 3},
		{"volumes anew at a start", "raid.create_configuration", is(map[string]any{"delete_existing": true}), onReset,
			old(raid(mirror)), mirrored, 3},
		{"no volumes of others", "raid.delete_configuration", none, func(c *lab.Config) {
			c.RAID.Foreign = true
			c.Personality, _ = lab.FindPersonality("")
			c.Personality.Vendor = "Dell"
		}, old(nil), "foreign false", 3},
		{"no volumes", "raid.delete_configuration", none, nil, old(nil), "UserMode", 2},
		{"firmware", "firmware.update", func(u string) map[string]any {
			return updates("bios", u+"/BIOS-2.0", "bmc", u+"/BMC-3.0")
		}, nil, nil, "2.0 3.0", 2},
		{"no secure boot keys", "management.clear_secure_boot_keys", none, nil, nil, "SetupMode", 0},
		{"secure boot keys", "management.reset_secure_boot_keys_to_default", none, nil, func(t *testing.T, s *stage) {
			s.Send(t, "POST", resetKeysPath, `{"ResetKeysType": "DeleteAllKeys"}`, 204)
			s.Send(t, "POST", resetPath, `{"ResetType": "On"}`, 204)
		}, "UserMode", 0},
		{"job queue", "management.clear_job_queue", none, nil, old(nil), "tasks 1", 1},
		{"reset of the controller", "management.reset_bmc", none, nil, nil, "UserMode", 0},
		{"a known good state", "management.known_good_state", none, nil, old(nil), "tasks 1", 1},
	}
}

func (c scenario) stage(t *testing.T) *stage {
	s := newStage(t, func(conf *lab.Config) {
		if c.config != nil {
			c.config(conf)
		}
	})
	if c.prepare != nil {
		c.prepare(t, s)
	}
	return s
}

// Every step has its effect, and does nothing when it is repeated.
func TestStepsOfLab(t *testing.T) {
	url := redfishtest.Images(t)
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			s := c.stage(t)
			report, err := s.do(t, c.step, c.arguments(url))
			if err != nil || report.Note == "" {
				t.Fatalf("%+v, %v", report, err)
			}
			state := s.state(t)
			if !strings.Contains(state, c.want) || s.State().Tasks != c.tasks {
				t.Errorf("state %s, expected %s and %d tasks", state, c.want, c.tasks)
			}
			s.checkVolumes(t, c.step, report)
			if strings.HasPrefix(c.step, "firmware") {
				if s.most <= 100 {
					t.Errorf("of two updates, progress %d was reported at most; expected more than one's", s.most)
				}
				return // flashes again on another request: an image has no version
			}
			if _, err := s.do(t, c.step, c.arguments(url)); err != nil {
				t.Errorf("again: %v", err)
			}
			if diff := cmp.Diff(state, s.state(t)); diff != "" {
				t.Errorf("again (-first +second):\n%s", diff)
			}
		})
	}
}

// checkVolumes compares a step's report of RAID with the volumes there are. Other steps
// report nothing.
func (s *stage) checkVolumes(t *testing.T, step string, report node.StepReport) {
	t.Helper()
	if !strings.HasPrefix(step, "raid.") {
		if report.Volumes != nil {
			t.Errorf("%s reports volumes: %+v", step, *report.Volumes)
		}
		return
	}
	want := []node.LogicalDisk{}
	for _, v := range s.State().Volumes {
		level := map[string]string{"RAID0": "0", "RAID1": "1"}[v.RAIDType]
		want = append(want, node.LogicalDisk{ID: v.ID, Name: v.Name, Controller: "RAID", SizeGB: v.Bytes >> 30,
			RAIDLevel: level})
	}
	if diff := cmp.Diff(&want, report.Volumes); diff != "" {
		t.Errorf("volumes in the report (-there +reported):\n%s", diff)
	}
}

// A conductor may die with any answer of a step still in its hands. A request may be lost at any point, before or after
// the controller has seen it. Neither changes the result of the step, nor how often it is done.
func TestStepsSurvive(t *testing.T) {
	url := redfishtest.Images(t)
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.stage(t)
			if _, err := s.do(t, c.step, c.arguments(url)); err != nil {
				t.Fatal(err)
			}
			want, calls, requests := s.state(t), s.calls+1, s.wire.seen
			check := func(what string, s *stage) {
				report, err := s.do(t, c.step, c.arguments(url))
				if err != nil || !report.Done {
					t.Errorf("%s: %+v, %v", what, report, err)
				}
				if diff := cmp.Diff(want, s.state(t)); diff != "" {
					t.Errorf("%s (-undisturbed +disturbed):\n%s", what, diff)
				}
			}
			for call := range min(calls, 6) {
				s := c.stage(t)
				s.lose = func(n int) bool { return n == call }
				check(fmt.Sprintf("answer %d lost", call), s)
			}
			stride := max(1, requests/6)
			for n := 1; n <= requests; n += stride {
				for _, after := range []bool{false, true} {
					s := c.stage(t)
					s.wire.lose, s.wire.after = n, after
					check(fmt.Sprintf("request %d lost, after it was seen: %v", n, after), s)
				}
			}
		})
	}
}
