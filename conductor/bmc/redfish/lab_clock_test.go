package redfish_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
)

// The clock of the lab's BMC stands at another day than this host's.
func TestBMCClock(t *testing.T) {
	s := newStage(t)
	for _, want := range []string{"the BMC's clock was off by", "the BMC's clock is right"} {
		if report, err := s.do(t, "management.verify_bmc_clock", nil); err != nil || !strings.Contains(report.Note, want) {
			t.Errorf("%q, %v, want %s", report.Note, err, want)
		}
	}
	set := map[string]any{"target_datetime": "2027-01-01T00:30:15Z", "datetime_local_offset": "+02:00"}
	if report, err := s.do(t, "management.set_bmc_clock", set); err != nil ||
		!strings.HasSuffix(report.Note, "is set to 2027-01-01T00:30:15Z") {
		t.Errorf("%q, %v", report.Note, err)
	}
	if at := s.Read(t, managerPath); at["DateTime"] != "2027-01-01T02:30:15+02:00" ||
		at["DateTimeLocalOffset"] != "+02:00" {
		t.Errorf("the BMC shows %v, %v", at["DateTime"], at["DateTimeLocalOffset"])
	}
	if _, err := s.do(t, "management.set_bmc_clock", nil); err != nil {
		t.Errorf("to this host's time: %v", err)
	}
	if report, err := s.do(t, "management.verify_bmc_clock", nil); err != nil ||
		!strings.Contains(report.Note, "is right") {
		t.Errorf("afterwards: %q, %v", report.Note, err)
	}
	for value, want := range map[string]string{"tomorrow": "target_datetime is",
		"2027-01-01T00:00:00": "an offset from UTC", "offset": "datetime_local_offset is"} {
		bad := map[string]any{"target_datetime": value}
		if value == "offset" {
			bad = map[string]any{"datetime_local_offset": "two hours"}
		}
		if _, err := s.do(t, "management.set_bmc_clock", bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", value, err)
		}
	}
	s.setFault(t, lab.Fault{Kind: lab.ClockKept})
	_, err := s.do(t, "management.set_bmc_clock", set)
	var p interface{ Permanent() bool }
	if !errors.As(err, &p) || !p.Permanent() ||
		!strings.Contains(err.Error(), "the BMC took the time 2027-01-01T00:30:15") {
		t.Errorf("a clock that NTP sets: %v", err)
	}
}

// Verification sets clocks where the operator says so.
func TestVerifyClockByOption(t *testing.T) {
	for on, want := range map[bool]int{true: 1, false: 0} {
		for _, o := range redfish.New(redfish.Options{VerifyClock: on}).Steps(node.Node{}) {
			if got, has := o.Priority[node.VerifySteps]; o.Step == "verify_bmc_clock" && (!has || got != want) {
				t.Errorf("with %v its priority is %d", on, got)
			}
		}
	}
}
