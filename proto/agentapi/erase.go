package agentapi

import (
	"fmt"
	"time"
)

// EraseReportVersion is the form of EraseReport. It changes when a reader of
// the old form would misunderstand the new one.
const EraseReportVersion = 1

// EraseReport lists the erased disks of a machine, with their methods and verification. It is the result of the steps
// erase_devices and erase_devices_express. The signature covers json.Marshal of this struct.
type EraseReport struct {
	Version  int          `json:"version"`
	NodeUUID string       `json:"node_uuid"`
	Machine  EraseMachine `json:"machine"`
	Started  time.Time    `json:"started"`
	Finished time.Time    `json:"finished"`
	Disks    []ErasedDisk `json:"disks"`
	// Unfinished is why the machine has not reported: its conductor has written
	// this then, of the disks it knew of, and none of them counts as erased.
	Unfinished string `json:"unfinished,omitempty"`
}

// EraseMachine is which machine it was, by DMI.
type EraseMachine struct {
	Manufacturer string `json:"manufacturer"`
	Product      string `json:"product"`
	Serial       string `json:"serial"`
}

// ErasedDisk is one disk of the report: erased by Method, or Skipped for a
// reason. A disk that could be neither has an Error, and the step fails.
type ErasedDisk struct {
	Device       string             `json:"device"`
	Model        string             `json:"model"`
	Serial       string             `json:"serial"`
	WWN          string             `json:"wwn"`
	Size         int64              `json:"size"` // bytes
	Method       string             `json:"method,omitempty"`
	Attempts     []EraseAttempt     `json:"attempts,omitempty"` // in order; the last is of Method where there is one
	Started      *time.Time         `json:"started,omitempty"`
	DurationMS   int64              `json:"duration_ms,omitempty"`
	Verification *EraseVerification `json:"verification,omitempty"` // of the last attempt
	Skipped      string             `json:"skipped,omitempty"`
	Error        string             `json:"error,omitempty"`
}

// EraseAttempt is one method tried; Error is empty when it worked and was
// verified.
type EraseAttempt struct {
	Method string `json:"method"`
	Error  string `json:"error,omitempty"`
}

// EraseVerification is the result of reading back after an attempt. It counts blocks with an unpredictable pattern
// written before it, and blocks of the old data. Survivors are blocks that still read as before.
type EraseVerification struct {
	Canaries  int  `json:"canaries"`
	Samples   int  `json:"samples"`
	Survivors int  `json:"survivors"`
	Passed    bool `json:"passed"`
}

// ErasePlan is the plan of erase_devices for one disk: the methods it would try, in order, and why others are not
// among them. It is the step's answer with dry_run, and the key ferrite_erase_plan of inspection data.
type ErasePlan struct {
	Device   string          `json:"device"`
	Model    string          `json:"model"`
	Serial   string          `json:"serial"`
	Size     int64           `json:"size"` // bytes
	Methods  []string        `json:"methods"`
	NotTaken []EraseNotTaken `json:"not_taken"`
	Skipped  string          `json:"skipped,omitempty"` // why the disk would be left alone
	Refused  string          `json:"refused,omitempty"` // why the step would fail at it
}

// EraseNotTaken is a method that is not in a plan.
type EraseNotTaken struct {
	Method string `json:"method"`
	Reason string `json:"reason"`
}

// Validate refuses a report that proves nothing: without a node, of another form, or with a disk without a result.
func (r EraseReport) Validate() error {
	switch {
	case r.Version != EraseReportVersion:
		return fmt.Errorf("erase report: version %d, expected %d", r.Version, EraseReportVersion)
	case r.NodeUUID == "":
		return fmt.Errorf("erase report: node_uuid is missing")
	case r.Started.IsZero() || r.Finished.Before(r.Started):
		return fmt.Errorf("erase report: started %s and finished %s are not in this order", r.Started.Format(time.RFC3339),
			r.Finished.Format(time.RFC3339))
	}
	seen := map[string]bool{}
	for i, d := range r.Disks {
		if seen[d.Device] {
			return fmt.Errorf("erase report: disks[%d] is %s again", i, d.Device)
		}
		seen[d.Device] = true
		if err := d.validate(); err != nil {
			return fmt.Errorf("erase report: disks[%d] %s: %w", i, d.Device, err)
		}
		if r.Unfinished != "" && d.Error == "" {
			return fmt.Errorf("erase report: disks[%d] %s: nothing can be said of it but an error, since the erase was "+
				"not finished", i, d.Device)
		}
	}
	return nil
}

// Failed lists the disks that were neither erased nor to be skipped.
func (r EraseReport) Failed() []ErasedDisk {
	var out []ErasedDisk
	for _, d := range r.Disks {
		if d.Error != "" {
			out = append(out, d)
		}
	}
	return out
}

func (d ErasedDisk) validate() error {
	ends := 0
	for _, end := range []string{d.Method, d.Skipped, d.Error} {
		if end != "" {
			ends++
		}
	}
	switch {
	case d.Device == "":
		return fmt.Errorf("device is missing")
	case d.Size < 0 || d.DurationMS < 0:
		return fmt.Errorf("size %d and duration_ms %d cannot be negative", d.Size, d.DurationMS)
	case ends != 1:
		return fmt.Errorf("expected one of method, skipped and error, found %q, %q and %q", d.Method, d.Skipped, d.Error)
	case d.Method == "":
		return nil
	case d.Started == nil:
		return fmt.Errorf("erased by %s, but started is missing", d.Method)
	case len(d.Attempts) == 0 || d.Attempts[len(d.Attempts)-1] != EraseAttempt{Method: d.Method}:
		return fmt.Errorf("the last of attempts is not a success of %s", d.Method)
	}
	return d.Verification.validate()
}

func (v *EraseVerification) validate() error {
	switch {
	case v == nil:
		return fmt.Errorf("verification is missing")
	case !v.Passed || v.Survivors != 0 || v.Canaries < 1 || v.Samples < 0:
		return fmt.Errorf("verification of %d canaries and %d samples with %d survivors, passed %v, is none that was passed",
			v.Canaries, v.Samples, v.Survivors, v.Passed)
	}
	return nil
}
