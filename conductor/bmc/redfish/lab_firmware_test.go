package redfish_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// newUpdate is a stage with the short times of a test, before a BMC of a maker.
func newUpdate(t *testing.T, vendor string) *stage {
	s := newStage(t, func(c *lab.Config) {
		ideal, err := lab.FindPersonality("")
		if err != nil {
			t.Fatal(err)
		}
		if ideal.Vendor != "" && vendor != "" {
			ideal.Vendor = vendor
		}
		c.Personality = ideal
	})
	s.driver = newDriver(t, redfish.Options{BackOff: time.Millisecond, MaxBackOff: time.Millisecond,
		Firmware: redfish.FirmwareTimes{Start: 30 * time.Millisecond, Version: 60 * time.Millisecond,
			Settle: 60 * time.Millisecond, Between: time.Millisecond}})
	return s
}

// An update may lose its task, or wait for a start: each case ends with the new version or its own reason.
func TestUpdatesThatGoAstray(t *testing.T) {
	url := redfishtest.Images(t)
	const nic = "nic:52:54:00:77:00:01"
	for _, tt := range []struct {
		name, vendor, component, image string
		fault                          lab.FaultKind
		said                           string // in the notes
		starts                         int
		want                           string // the report's note, or the error
		failed                         bool
	}{
		{"a card's task stays New", "", nic, "NIC", lab.UpdateStaysNew, "its task is New", 1,
			nic + " was iPXE 1.0 and is 2.0", false},
		{"a BIOS's task stays Starting", "", "bios", "BIOS", lab.UpdateStaysStarting, "its task is Starting", 1,
			"bios was OVMF and is 2.0", false},
		{"a BIOS's task vanishes", "", "bios", "BIOS", lab.UpdateForgotten, "may have staged the new firmware", 1,
			"bios was OVMF and is 2.0", false},
		{"a card's task vanishes", "", nic, "NIC", lab.UpdateForgotten, "may have staged the new firmware", 1,
			"is 2.0", false},
		{"Dell's job outlives its task", "Dell", "bios", "BIOS", lab.UpdateForgotten,
			"Lifecycle Controller's job 1, which is Scheduled", 1, "bios was OVMF and is 2.0", false},
		{"a BMC's task vanishes", "", "bmc", "BMC", lab.UpdateForgotten, "waits until it settles", 0,
			"bmc was 1.0.0 and is 2.0", false},
		{"a BIOS's update vanishes", "", "bios", "BIOS", lab.UpdateLost, "may have staged the new firmware", 1,
			`has forgotten its task ` + tasksPath + `/Tasks/1, and the version of bios is still "OVMF"`, true},
		{"a card's update vanishes", "", nic, "NIC", lab.UpdateLost, "may have staged the new firmware", 1,
			`the version of ` + nic + ` is still "iPXE 1.0"`, true},
		{"a card that is not shown", "", "nic:gone", "NIC", lab.UpdateForgotten, "", 1, "shows no version of nic:gone", true},
		{"Dell has no job", "Dell", "bios", "BIOS", lab.UpdateLost, "", 0, "the Lifecycle Controller has no job 1", true},
		{"a BMC's update vanishes", "", "bmc", "BMC", lab.UpdateLost, "", 0, `the version of bmc is still "1.0.0"`, true},
		{"the BMC restarts in between", "", "bios", "BIOS", lab.UpdateInterrupted, "does not answer", 1,
			"(it restarted in the middle of the update, at 2026-", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newUpdate(t, tt.vendor)
			s.setFault(t, lab.Fault{Kind: tt.fault, Times: 1})
			report, err := s.do(t, "firmware.update", updates(tt.component, url+"/"+tt.image+"-2.0"))
			ended := report.Note
			if err != nil {
				var p interface{ Permanent() bool }
				if ended = err.Error(); !errors.As(err, &p) || !p.Permanent() {
					t.Errorf("not for good: %v", err)
				}
			}
			notes := strings.Join(s.notes, "\n")
			if (err != nil) != tt.failed || !strings.Contains(ended, tt.want) || !strings.Contains(notes, tt.said) {
				t.Errorf("it ends as %q (failed %v), want %q; notes %s", ended, err != nil, tt.want, notes)
			}
			if got := strings.Count(notes, "a start of the machine"); got != tt.starts {
				t.Errorf("%d starts, want %d: %s", got, tt.starts, notes)
			}
		})
	}
}

// A BMC that was updated must give three good answers in a row.
func TestUpdatedBMCSettles(t *testing.T) {
	url := redfishtest.Images(t)
	for name, tt := range map[string]struct {
		ill    func(look int) bool
		want   string
		failed bool
	}{
		"ill once":     {func(look int) bool { return look == 2 }, "bmc was 1.0.0 and is 2.0", false},
		"ill for good": {func(look int) bool { return look > 1 }, "expected 3 good answers in a row, the last is:", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newUpdate(t, "")
			looks := 0
			s.wire.lead(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == partsChassis+"/NetworkAdapters" && s.State().BMCVersion == "2.0" {
					if looks++; tt.ill(looks) {
						http.Error(w, "starting", http.StatusInternalServerError)
						return
					}
				}
				s.ServeHTTP(w, r)
			}))
			report, err := s.do(t, "firmware.update", updates("bmc", url+"/BMC-2.0"))
			ended := report.Note
			if err != nil {
				ended = err.Error()
			}
			if (err != nil) != tt.failed || !strings.Contains(ended, tt.want) {
				t.Errorf("it ends as %q, want %q: %q", ended, tt.want, s.notes)
			}
			if again := strings.Count(strings.Join(s.notes, "\n"), "1 of 3 good answers"); !tt.failed && again != 2 {
				t.Errorf("it counted anew %d times: %q", again-1, s.notes)
			}
		})
	}
}

// A card's update after the BMC's comes after a start of the machine, and a BMC that refuses to list the cards of a
// machine that is off has settled.
func TestUpdateAfterTheBMCs(t *testing.T) {
	url := redfishtest.Images(t)
	s := newUpdate(t, "")
	s.wire.lead(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == partsChassis+"/NetworkAdapters" && s.machine.Power() == "Off" {
			http.Error(w, "off", http.StatusBadRequest)
			return
		}
		s.ServeHTTP(w, r)
	}))
	report, err := s.do(t, "firmware.update", updates("bmc", url+"/BMC-2.0", "nic:52:54:00:77:00:01", url+"/NIC-2.0"))
	notes := strings.Join(s.notes, "\n")
	const want = "bmc was 1.0.0 and is 2.0; nic:52:54:00:77:00:01 was iPXE 1.0 and is 2.0"
	if err != nil || !strings.Contains(report.Note, want) ||
		strings.Count(notes, "a start of the machine") != 2 {
		t.Errorf("%v, %q: %s", err, report.Note, notes)
	}
}

// The operator's time for a BMC is waited for after an update without a time of its own.
func TestUpdateWaitsForTheBMC(t *testing.T) {
	s := newUpdate(t, "")
	s.node.DriverInfo["firmware_update_unresponsive_bmc_wait"] = 1.0
	begun := time.Now()
	_, err := s.do(t, "firmware.update", updates("bios", redfishtest.Images(t)+"/BIOS-2.0"))
	if notes := strings.Join(s.notes, "\n"); err != nil || time.Since(begun) < time.Second ||
		!strings.Contains(notes, "waits 1 s after the update of bios") {
		t.Errorf("%v after %s: %s", err, time.Since(begun), notes)
	}
}
