package agentapi

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func report() EraseReport {
	at := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	return EraseReport{
		Version: EraseReportVersion, NodeUUID: "5e3c1c5e-0000-4000-8000-000000000001",
		Machine: EraseMachine{Manufacturer: "Ferrite", Product: "Lab Machine", Serial: "METAL-1"},
		Started: at, Finished: at.Add(90 * time.Second),
		Disks: []ErasedDisk{
			{
				Device: "/dev/nvme0n1", Model: "M", Serial: "S", WWN: "eui.0025", Size: 1 << 30, Method: "nvme_format_user_data",
				Attempts: []EraseAttempt{{"nvme_format_crypto", "the drive ended it with status 0x2"},
					{Method: "nvme_format_user_data"}},
				Started: &at, DurationMS: 1500, Verification: &EraseVerification{Canaries: 1024, Samples: 700, Passed: true},
			},
			{Device: "/dev/sda", Model: "M", Serial: "S", Size: 1 << 30, Skipped: "read-only"},
			{Device: "/dev/sdb", Model: "M", Serial: "S", Size: 1 << 30, Error: "frozen"},
		},
	}
}

// TestEraseReportForm: the signed form must not change by accident.
func TestEraseReportForm(t *testing.T) {
	b, err := json.Marshal(report())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/erase-report.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(b)); diff != "" {
		t.Error(diff)
	}
	var back EraseReport
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report(), back); diff != "" {
		t.Error(diff)
	}
	if err := back.Validate(); err != nil {
		t.Error(err)
	}
	if failed := back.Failed(); len(failed) != 1 || failed[0].Device != "/dev/sdb" {
		t.Errorf("failed: %+v", failed)
	}
}

func TestEraseReportRefused(t *testing.T) {
	for want, change := range map[string]func(*EraseReport){
		"version 2":                 func(r *EraseReport) { r.Version = 2 },
		"node_uuid":                 func(r *EraseReport) { r.NodeUUID = "" },
		"not in this order":         func(r *EraseReport) { r.Finished = r.Started.Add(-1) },
		"/dev/nvme0n1 again":        func(r *EraseReport) { r.Disks[1].Device = "/dev/nvme0n1" },
		"device is missing":         func(r *EraseReport) { r.Disks[1].Device = "" },
		"cannot be negative":        func(r *EraseReport) { r.Disks[1].Size = -1 },
		"expected one of method":    func(r *EraseReport) { r.Disks[1].Skipped = "" },
		"found \"nvme":              func(r *EraseReport) { r.Disks[0].Error = "but" },
		"started is missing":        func(r *EraseReport) { r.Disks[0].Started = nil },
		"last of attempts":          func(r *EraseReport) { r.Disks[0].Attempts = r.Disks[0].Attempts[:1] },
		"verification is missing":   func(r *EraseReport) { r.Disks[0].Verification = nil },
		"with 3 survivors":          func(r *EraseReport) { r.Disks[0].Verification.Survivors = 3 },
		"none that was passed":      func(r *EraseReport) { r.Disks[0].Verification.Passed = false },
		"nothing can be said of it": func(r *EraseReport) { r.Unfinished = "aborted" },
		"verification of 0 canari":  func(r *EraseReport) { r.Disks[0].Verification.Canaries = 0 },
	} {
		r := report()
		change(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expected %q, found %v", want, err)
		}
	}
}
