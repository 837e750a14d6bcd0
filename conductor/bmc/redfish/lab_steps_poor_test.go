package redfish_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// A step given without its memory finds its update in the BMC's tasks.
func TestStepsWithoutMemory(t *testing.T) {
	url := redfishtest.Images(t)
	s := newStage(t)
	s.Send(t, "POST", simpleUpdatePath, `{"ImageURI": "`+url+`/BIOS-2.0"}`, 202)
	if _, err := s.do(t, "firmware.update", updates("bios", url+"/BIOS-2.0")); err != nil || s.State().Tasks != 1 {
		t.Errorf("%v, %d tasks", err, s.State().Tasks)
	}
	s = newStage(t)
	s.Send(t, "POST", volumesPath, mirrorRequest, 202)
	config := map[string]any{
		"raid_config": raid(map[string]any{"size_gb": "MAX", "raid_level": "1", "physical_disks": []any{"2", "1"},
			"volume_name": "system"}),
	}
	if _, err := s.do(t, "raid.apply_configuration", config); err != nil || s.State().Tasks != 1 {
		t.Errorf("%v, %d tasks", err, s.State().Tasks)
	}
}

// Progress is reported as it goes.
func TestStepsNotes(t *testing.T) {
	s := newStage(t)
	if _, err := s.do(t, "firmware.update", updates("bmc", redfishtest.Images(t)+"/BMC-2.0")); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(s.notes, "\n")
	for _, want := range []string{"begins to update bmc", "the BMC fetches", "Running, 50 %", "bmc was 1.0.0 and is 2.0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// Boards that have none of it say so for good.
func TestStepsOfAPoorBoard(t *testing.T) {
	s := newStage(t, func(c *lab.Config) { c.RAID = lab.RAID{} })
	s.wire.lead(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetBasicAuth(redfishtest.User, redfishtest.Password)
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		text := answer.Body.String()
		for _, part := range []string{"Bios", "SecureBoot", "UpdateService", "ManagedBy", "DellJobService"} {
			if r.URL.Path == managerPath || part != "DellJobService" {
				text = strings.ReplaceAll(text, `"`+part+`":`, `"Not`+part+`":`)
			}
		}
		w.WriteHeader(answer.Code)
		w.Write([]byte(text))
	}))
	for _, tt := range []struct {
		step      string
		arguments map[string]any
		want      string
	}{
		{"bios.factory_reset", nil, "the BMC does not offer BIOS settings"},
		{"bios.apply_configuration", settings("A", "b"), "the BMC does not offer BIOS settings"},
		{"management.clear_secure_boot_keys", nil, "the BMC does not offer secure boot"},
		{"firmware.update", updates("bios", "http://x/y"), "the BMC offers no update service"},
		{"management.reset_bmc", nil, "does not say which manager is its BMC"},
		{"raid.apply_configuration", map[string]any{"raid_config": raid(map[string]any{"size_gb": 1, "raid_level": "0"})},
			"the machine has no RAID controller"},
	} {
		if _, err := s.do(t, tt.step, tt.arguments); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, expected %s", tt.step, err, tt.want)
		}
	}
	if _, err := s.do(t, "raid.delete_configuration", nil); err != nil {
		t.Errorf("nothing to delete: %v", err)
	}
}

// If a BMC's tasks have no payload, the step waits for them, and repeats no request.
func TestStepsWithoutPayload(t *testing.T) {
	url := redfishtest.Images(t)
	for _, c := range scenarios() {
		if c.tasks == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			quiet := c.stage(t)
			if _, err := quiet.do(t, c.step, c.arguments(url)); err != nil {
				t.Fatal(err)
			}
			want := quiet.state(t)
			for call := range 4 {
				s := c.stage(t)
				s.lose = func(n int) bool { return n == call }
				s.wire.lead(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer := httptest.NewRecorder()
					s.ServeHTTP(answer, r)
					w.WriteHeader(answer.Code)
					w.Write([]byte(strings.ReplaceAll(answer.Body.String(), `"Payload":`, `"NoPayload":`)))
				}))
				if report, err := s.do(t, c.step, c.arguments(url)); err != nil || !report.Done {
					t.Fatalf("answer %d lost: %+v, %v", call, report, err)
				}
				if diff := cmp.Diff(want, s.state(t)); diff != "" {
					t.Errorf("answer %d lost (-with +without):\n%s", call, diff)
				}
			}
		})
	}
}
