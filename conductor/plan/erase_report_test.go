package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const erasedNode = "11111111-2222-4333-8444-555555555555"

// reported is a report of one disk that was erased, or failed to be.
func reported(failed bool) agentapi.EraseReport {
	at := time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC)
	d := agentapi.ErasedDisk{
		Device: "/dev/sda", Serial: "S1", Size: 1 << 30, Method: "overwrite", Started: &at, DurationMS: 5000,
		Attempts:     []agentapi.EraseAttempt{{Method: "overwrite"}},
		Verification: &agentapi.EraseVerification{Canaries: 9, Samples: 3, Passed: true},
	}
	if failed {
		d = agentapi.ErasedDisk{Device: "/dev/sda", Serial: "S1", Size: 1 << 30, Error: "it is frozen"}
	}
	return agentapi.EraseReport{Version: agentapi.EraseReportVersion, NodeUUID: erasedNode, Started: at,
		Finished: at.Add(time.Minute), Disks: []agentapi.ErasedDisk{d}}
}

// kept is the recorded form of an erase.
type kept int

const (
	nothing    kept = iota
	asTold          // the machine's report
	unfinished      // that there is none
)

// TestEraseReport: the end of an erase step, for each answer of its command.
func TestEraseReport(t *testing.T) {
	changed := func(change func(*agentapi.EraseReport)) any {
		r := reported(false)
		change(&r)
		return r
	}
	long := changed(func(r *agentapi.EraseReport) { r.Machine.Serial = strings.Repeat("x", node.MaxEraseReport) })
	for name, c := range map[string]struct {
		status  agentapi.Status
		result  any // of the step
		change  func(*decision)
		kept    kept   // the expected record
		failure string // part of last_error; "" for a step that is done
	}{
		"erased": {agentapi.Succeeded, reported(false), nil, asTold, ""},
		"express": {
			agentapi.Succeeded, reported(false), func(d *decision) {
				d.n.Run.Current().Step = "erase_devices_express"
			}, asTold, "",
		},
		"another agent": {agentapi.Succeeded, map[string]any{"/dev/sda": true},
			func(d *decision) { d.n.Run.Versions = nil }, nothing, ""},
		"another agent says nothing": {agentapi.Succeeded, nil, func(d *decision) { d.n.Run.Versions = nil }, nothing, ""},
		"a dry run": {
			agentapi.Succeeded, []any{}, func(d *decision) {
				d.n.Run.Current().Args = map[string]any{"dry_run": true}
			}, nothing, "",
		},
		"another step": {
			agentapi.Succeeded, reported(false), func(d *decision) { d.n.Run.Current().Step = "erase_pstore" }, nothing, "",
		},
		"none":   {agentapi.Succeeded, nil, nil, unfinished, "its result is no report"},
		"a list": {agentapi.Succeeded, []any{}, nil, unfinished, "its result is no report"},
		"of another node": {agentapi.Succeeded, changed(func(r *agentapi.EraseReport) { r.NodeUUID = "x" }), nil,
			unfinished, "it is of node x, expected one of " + erasedNode},
		"of another form": {agentapi.Succeeded, changed(func(r *agentapi.EraseReport) { r.Version = 2 }), nil,
			unfinished, "version 2, expected 1"},
		"not verified": {
			agentapi.Succeeded, changed(func(r *agentapi.EraseReport) { r.Disks[0].Verification = nil }), nil, unfinished,
			"verification is missing",
		},
		"of other types": {agentapi.Succeeded, map[string]any{"version": "one"}, nil, unfinished,
			"erase report:"},
		"of another agent, bad": {agentapi.Succeeded, map[string]any{"disks": []any{}},
			func(d *decision) { d.n.Run.Versions = nil }, nothing, "version 0, expected 1"},
		"too long": {agentapi.Succeeded, long, nil, unfinished, "at most 262144 are kept"},
		"says itself that it is none": {
			agentapi.Succeeded, changed(func(r *agentapi.EraseReport) { r.Unfinished, r.Disks = "aborted", nil }), nil,
			unfinished, "it says itself that it is none",
		},
		"a success that is none": {agentapi.Succeeded, reported(true), nil, unfinished,
			`/dev/sda is reported with the error "it is frozen"`},
		"failed":               {agentapi.Failed, reported(true), nil, asTold, "1 of 1 disks"},
		"failed, nothing told": {agentapi.Failed, nil, nil, unfinished, "1 of 1 disks"},
		"failed, told badly": {agentapi.Failed, map[string]any{"version": 1}, nil, unfinished,
			"1 of 1 disks could not be erased (its report was not kept: erase report: node_uuid is missing)"},
	} {
		t.Run(name, func(t *testing.T) {
			step, err := json.Marshal(c.result)
			if err != nil {
				t.Fatal(err)
			}
			res := agentapi.Result{ID: "1", Status: c.status}
			if res.Result, err = json.Marshal(agentapi.StepResult{CleanResult: step}); err != nil {
				t.Fatal(err)
			}
			if c.status == agentapi.Failed {
				res.Error = agentapi.NewCommandError("BlockDeviceEraseError", "Error erasing block device",
					"1 of 1 disks could not be erased")
			}
			d := &decision{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), n: node.Node{
				UUID: erasedNode, Name: "n1", ProvisionState: node.CleanWait, Run: &node.Run{
					Activity: "clean", Generation: 1, Command: "1", Versions: map[string]string{ourManager: "1"},
					Steps: []node.Step{{Interface: "deploy", Step: "erase_devices", InBand: true},
						{Interface: "power", Step: "power_off"}},
				},
			}}
			if c.change != nil {
				c.change(d)
			}
			raw, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			f := Facts{Settings: DefaultSettings()}
			change, err := Decide(d.n, f, Outcome{Effect: node.Effect{Name: "agent.poll", Generation: 1}, Result: raw}, d.now)
			if err != nil {
				t.Fatal(err)
			}
			n := change.Save
			if failed := n.ProvisionState == node.CleanFailed; failed != (c.failure != "") ||
				!strings.Contains(n.LastError, c.failure) {
				t.Errorf("%s, last_error %q, want %q", n.ProvisionState, n.LastError, c.failure)
			}
			var want *node.EraseReport
			switch c.kept {
			case nothing:
			case asTold:
				want = &node.EraseReport{NodeUUID: erasedNode, NodeName: "n1", Failed: c.failure != "", Report: step}
			case unfinished:
				want = UnfinishedErase(d.n, agentapi.Inventory{}, n.LastError, d.now)
			}
			if diff := cmp.Diff(want, change.PutEraseReport); diff != "" {
				t.Error(diff)
			}
		})
	}
}
