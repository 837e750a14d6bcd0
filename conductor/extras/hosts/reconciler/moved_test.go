package reconciler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAdoptedHost: a provisioned host that comes with its status, as an import from another Metal3 brings it, is
// adopted, and nothing is done to its machine.
func TestAdoptedHost(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		h := w.until("a", "provisioned and on", func(h hostapi.Host) bool {
			return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.PoweredOn
		})
		status := h.Status
		status.Provisioning.ID = ""
		raw, err := json.Marshal(status)
		w.check(err)
		before, cycles := w.node("a"), w.machines.powerCycles()
		w.edit("a", func(h *hostapi.Host) { h.Annotations = map[string]string{hostapi.AnnotationDetached: ""} })
		w.until("a", "detached", func(h hostapi.Host) bool {
			return h.Status.OperationalStatus == hostapi.StatusDetached
		})
		w.remove("a")
		w.gone("a")
		w.apply("a", func(h *hostapi.Host) {
			withImage("http://images/a")(h)
			h.Annotations = map[string]string{hostapi.AnnotationStatus: string(raw)}
		})
		w.until("a", "provisioned with a node", func(h hostapi.Host) bool {
			return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.Provisioning.ID != "" &&
				h.Status.PoweredOn
		})
		time.Sleep(time.Hour)
		after := w.node("a")
		if after.UUID == before.UUID || after.ProvisionState != node.Active || w.machines.powerCycles() != cycles {
			t.Errorf("node %s, before %s, is %s; %d power changes", after.UUID, before.UUID, after.ProvisionState,
				w.machines.powerCycles()-cycles)
		}
	})
}
