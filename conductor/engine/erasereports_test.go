package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestEraseReportIsSigned: what a step that failed has reported is kept with the
// failure, signed with the conductor's key.
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
		reports, err := w.e.EraseReports(w.ctx, id)
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
