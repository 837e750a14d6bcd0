package core_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestEraseReportIsSigned: the report of a failed step is kept with the failure, signed with the conductor's key.
func TestEraseReportIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable).UUID
		steps := []node.Step{{Interface: "deploy", Step: "erase_devices"}}
		if err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Clean, CleanSteps: steps}); err != nil {
			t.Fatal(err)
		}
		if n := w.Settled(id); n.ProvisionState != node.CleanFailed || !strings.Contains(n.LastError, "sda is frozen") {
			t.Fatalf("%s: %s", n.ProvisionState, n.LastError)
		}
		reports, err := w.E.ListEraseReports(w.Ctx, node.EraseReportQuery{NodeUUID: id})
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
		if key, err := nodeapi.EraseKeyOf(w.E.ErasePublicKey()); err != nil || key.KeyID != r.KeyID {
			t.Errorf("%v: key %s signed, not %s", err, r.KeyID, key.KeyID)
		}
	})
}

// TestEraseCutOffIsSigned: an erase that goes on for ever is aborted, then begun
// again and its node deleted. Both are on record, with the disks that an inspection had
// found.
func TestEraseCutOffIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Ask(w.Create("redfish").UUID, node.Manage, node.Manageable)
		found := node.Inspected{Inventory: json.RawMessage(`{"disks":[{"name":"/dev/sda","serial":"S-1","size":9}]}`),
			PluginData: json.RawMessage(`{}`)}
		if _, err := w.Store.Commit(w.Ctx, node.Change{Save: &n, Inspected: &found}); err != nil {
			t.Fatal(err)
		}
		w.Hangs = 1
		erasing(w, n.UUID)
		if n = w.Ask(n.UUID, node.Abort, node.CleanFailed); !strings.Contains(n.LastError, "aborted by request") {
			t.Error(n.LastError)
		}
		w.Ask(n.UUID, node.Manage, node.Manageable)
		erasing(w, n.UUID)
		if err := w.E.SetMaintenance(w.Ctx, n.UUID, true, "it goes to the scrapyard"); err != nil {
			t.Fatal(err)
		}
		if err := w.E.DeleteNode(w.Ctx, n.UUID); err != nil {
			t.Fatal(err)
		}
		reports, err := w.E.ListEraseReports(w.Ctx, node.EraseReportQuery{NodeUUID: n.UUID})
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
func erasing(w *enginetest.World, uuid string) {
	w.T.Helper()
	steps := []node.Step{{Interface: "deploy", Step: "erase_devices"}}
	if err := w.E.Provision(w.Ctx, uuid, plan.Request{Verb: node.Clean, CleanSteps: steps}); err != nil {
		w.T.Fatal(err)
	}
	for range 1000 {
		n, err := w.E.Node(w.Ctx, uuid)
		if err != nil {
			w.T.Fatal(err)
		}
		if plan.Erases(n) && n.Run.Command != "" {
			return
		}
		time.Sleep(time.Second)
	}
	w.T.Fatal("the agent never begins to erase")
}
