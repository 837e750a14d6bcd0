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

// erasing is a node amid an erase by our agent that began an hour before now.
func erasing(now time.Time) node.Node {
	return node.Node{
		UUID: erasedNode, Name: "n1", ProvisionState: node.CleanWait, PowerState: node.PowerOn,
		Agent: node.Agent{URL: "https://192.0.2.1:9999"},
		Run: &node.Run{
			Activity: "clean", Generation: 1, Command: "1", Versions: map[string]string{ourManager: "1"},
			Waiting: "the agent to finish deploy.erase_devices",
			Since:   now.Add(-2 * time.Hour), StepSince: now.Add(-time.Hour), StepMoved: now.Add(-time.Hour),
			Index: 1,
			Steps: []node.Step{
				step("agent", "get_steps", nil), {Interface: "deploy", Step: "erase_devices", InBand: true, Abortable: true},
				step("power", "power_off", nil),
			},
		},
	}
}

// TestEraseCutOff: an erase that ends before its machine could report is on record, with the known disks and the reason
// of its end. An erase that goes on is not.
func TestEraseCutOff(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	found := agentapi.Inventory{
		SystemVendor: agentapi.SystemVendor{Manufacturer: "Ferrite", ProductName: "Lab", SerialNumber: "M-1"},
		Disks: []agentapi.Disk{{Name: "/dev/sda", Model: "M", Serial: "S1", WWN: "w", Size: 1 << 30},
			{Name: "/dev/sdb", Serial: "S2"}},
	}
	disks := []agentapi.ErasedDisk{
		{Device: "/dev/sda", Model: "M", Serial: "S1", WWN: "w", Size: 1 << 30, Error: cutOff},
		{Device: "/dev/sdb", Serial: "S2", Error: cutOff},
	}
	poll := node.Effect{Name: "agent.poll", Generation: 1}
	for name, c := range map[string]struct {
		event  Event
		change func(*node.Node, *agentapi.Inventory)
		why    string // "" for no report
		disks  []agentapi.ErasedDisk
	}{
		"aborted": {
			Request{Verb: node.Abort}, nil, "clean aborted by request while waiting for the agent to finish", disks,
		},
		"out of time": {Expired{}, nil, "clean failed at step deploy.erase_devices: timed out", disks},
		"its agent started anew": {Outcome{Effect: poll, Failure: "the agent does not know command 1"}, nil,
			"does not know command 1", disks},
		"its instance is deleted": {Request{Verb: node.Delete}, func(n *node.Node, _ *agentapi.Inventory) {
			n.ProvisionState, n.Run.Activity, n.Revision = node.ServiceWait, "service", 7
		}, "service was ended by request, for delete", disks},
		"still running": {Outcome{Effect: poll, Result: json.RawMessage(`{"id":"1","command_status":"RUNNING"}`)},
			nil, "", nil},
		"steps have changed": {
			Outcome{Effect: poll, Result: json.RawMessage(`{"id":"1","command_status":"CLEAN_VERSION_MISMATCH"}`)}, nil, "", nil,
		},
		"another step is aborted": {
			Request{Verb: node.Abort}, func(n *node.Node, _ *agentapi.Inventory) {
				n.Run.Steps[1].Step = "erase_pstore"
			}, "", nil,
		},
		"a dry run is aborted": {
			Request{Verb: node.Abort}, func(n *node.Node, _ *agentapi.Inventory) {
				n.Run.Steps[1].Args = map[string]any{"dry_run": true}
			}, "", nil,
		},
		"another agent's": {
			Request{Verb: node.Abort}, func(n *node.Node, _ *agentapi.Inventory) { n.Run.Versions = nil }, "", nil,
		},
		"never inspected": {
			Request{Verb: node.Abort}, func(_ *node.Node, i *agentapi.Inventory) { *i = agentapi.Inventory{} }, "aborted",
			[]agentapi.ErasedDisk{},
		},
		"an impossible inventory": {
			Request{Verb: node.Abort}, func(_ *node.Node, i *agentapi.Inventory) { i.Disks = append(i.Disks, i.Disks[0]) },
			"aborted", []agentapi.ErasedDisk{},
		},
		"an inventory without end": {Request{Verb: node.Abort}, func(_ *node.Node, i *agentapi.Inventory) {
			i.SystemVendor.SerialNumber = strings.Repeat("x", node.MaxEraseReport)
		}, "aborted", []agentapi.ErasedDisk{}},
	} {
		t.Run(name, func(t *testing.T) {
			n, inv := erasing(now), found
			inv.Disks = append([]agentapi.Disk{}, found.Disks...)
			if c.change != nil {
				c.change(&n, &inv)
			}
			if amid := c.event.Needs(n).Inventory; amid != Erases(n) {
				t.Errorf("it needs the inventory: %v, Erases %v", amid, Erases(n))
			}
			change, err := Decide(n, Facts{Settings: DefaultSettings(), Inventory: inv}, c.event, now)
			if err != nil {
				t.Fatal(err)
			}
			if c.why == "" {
				if change.PutEraseReport != nil {
					t.Errorf("on record is %s", change.PutEraseReport.Report)
				}
				return
			}
			var r agentapi.EraseReport
			if change.PutEraseReport == nil {
				t.Fatal("nothing is on record")
			}
			if err := json.Unmarshal(change.PutEraseReport.Report, &r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.disks, r.Disks); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(r.Unfinished, c.why) || !change.PutEraseReport.Failed || len(r.Failed()) != len(c.disks) {
				t.Errorf("%+v, want %q", r, c.why)
			}
			if err := r.Validate(); err != nil || !r.Started.Equal(now.Add(-time.Hour)) || !r.Finished.Equal(now) {
				t.Errorf("%v: %s to %s", err, r.Started, r.Finished)
			}
		})
	}
}
