package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestEraseReportIsSigned: the report of a failed step is kept with the failure, signed with the conductor's key.
func TestEraseReportIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		id := w.ask(w.create("redfish").UUID, node.Manage, node.Manageable).UUID
		steps := []node.Step{{Interface: "deploy", Step: "erase_devices"}}
		if err := w.e.Provision(w.ctx, id, plan.Request{Verb: node.Clean, CleanSteps: steps}); err != nil {
			t.Fatal(err)
		}
		if n := w.settled(id); n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "sda is frozen") {
			t.Fatalf("%s: %s", n.ProvisionState, n.LastError)
		}
		reports, err := w.e.ListEraseReports(w.ctx, node.EraseReportQuery{NodeUUID: id})
		if err != nil || len(reports) != 1 || !reports[0].Failed {
			t.Fatalf("%v, %+v", err, reports)
		}
		r, err := nodeapi.ReportOf(reports[0].Payload, reports[0].Signature)
		if err != nil {
			t.Fatal(err)
		}
		if r.NodeUUID != id || r.UUID != reports[0].UUID || !r.Failed || !strings.Contains(string(r.Report), "frozen") {
			t.Errorf("%+v", r)
		}
		if key, err := nodeapi.EraseKeyOf(w.e.ErasePublicKey()); err != nil || key.KeyID != r.KeyID {
			t.Errorf("%v: key %s signed, not %s", err, r.KeyID, key.KeyID)
		}
	})
}

// TestEraseCutOffIsSigned: an erase that goes on for ever is aborted, then begun
// again and its node deleted. Both are on record, with the disks that an inspection had
// found.
func TestEraseCutOffIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.ask(w.create("redfish").UUID, node.Manage, node.Manageable)
		found := node.Inspected{Inventory: json.RawMessage(`{"disks":[{"name":"/dev/sda","serial":"S-1","size":9}]}`),
			PluginData: json.RawMessage(`{}`)}
		if _, err := w.store.Commit(w.ctx, node.Change{Save: &n, Inspected: &found}); err != nil {
			t.Fatal(err)
		}
		w.hangs = 1
		w.erasing(n.UUID)
		if n = w.ask(n.UUID, node.Abort, node.CleanFailed); !strings.Contains(n.LastError, "aborted by request") {
			t.Error(n.LastError)
		}
		w.ask(n.UUID, node.Manage, node.Manageable)
		w.erasing(n.UUID)
		if err := w.e.SetMaintenance(w.ctx, n.UUID, true, "it goes to the scrapyard"); err != nil {
			t.Fatal(err)
		}
		if err := w.e.DeleteNode(w.ctx, n.UUID); err != nil {
			t.Fatal(err)
		}
		reports, err := w.e.ListEraseReports(w.ctx, node.EraseReportQuery{NodeUUID: n.UUID})
		if err != nil || len(reports) != 2 {
			t.Fatalf("%v, %+v", err, reports)
		}
		for i, why := range []string{n.LastError, "the node was deleted"} {
			signed, err := nodeapi.ReportOf(reports[i].Payload, reports[i].Signature)
			if err != nil {
				t.Fatal(err)
			}
			var r agentapi.EraseReport
			if err := json.Unmarshal(signed.Report, &r); err != nil {
				t.Fatal(err)
			}
			if !signed.Failed || r.Unfinished != why || len(r.Failed()) != 1 || r.Disks[0].Serial != "S-1" {
				t.Errorf("%s, want %q", signed.Report, why)
			}
		}
	})
}

// erasing begins an erase and waits until the agent is at it.
func (w *world) erasing(uuid string) {
	w.t.Helper()
	steps := []node.Step{{Interface: "deploy", Step: "erase_devices"}}
	if err := w.e.Provision(w.ctx, uuid, plan.Request{Verb: node.Clean, CleanSteps: steps}); err != nil {
		w.t.Fatal(err)
	}
	for range 1000 {
		n, err := w.e.Node(w.ctx, uuid)
		if err != nil {
			w.t.Fatal(err)
		}
		if plan.Erases(n) && n.Run.Command != "" {
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Fatal("the agent never begins to erase")
}
