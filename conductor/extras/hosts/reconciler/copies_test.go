package reconciler_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A user restores a host's document, with its status, under another name while the host still exists, and then deletes
// the copies. With or without the host's BMC in it, and before or after a restart, the machine never notices.
func TestCopyOfAHost(t *testing.T) {
	for name, tc := range map[string]struct {
		address string
		restart bool
	}{
		"same BMC":        {"fake://a", false},
		"another BMC":     {"fake://b", false},
		"after a restart": {"fake://b", true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				w.apply("a", withImage("http://images/a"))
				h := w.until("a", "provisioned and on", func(h hostapi.Host) bool {
					return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.PoweredOn
				})
				before, cycles := w.node("a"), w.machines.powerCycles()
				status, err := json.Marshal(h.Status)
				w.check(err)
				time.Sleep(time.Minute)
				w.apply("b", func(h *hostapi.Host) {
					withImage("http://images/a")(h)
					h.Spec.BMC.Address = tc.address
					h.Annotations = map[string]string{hostapi.AnnotationStatus: string(status)}
				})
				copied := w.fails("b", hostapi.RegistrationError)
				if text := copied.Status.ErrorMessage; !strings.Contains(text, "default/a") {
					t.Errorf("the copy does not say of what: %s", text)
				}
				if tc.restart {
					w.stop()
					w.start()
				}
				time.Sleep(time.Hour)
				w.remove("b")
				w.gone("b")
				time.Sleep(time.Hour)
				after := w.node("a")
				if after.UUID != before.UUID || after.ProvisionState != node.Active || w.machines.powerCycles() != cycles {
					t.Errorf("node %s is %s, was %s; %d power changes", after.UUID, after.ProvisionState, before.UUID,
						w.machines.powerCycles()-cycles)
				}
				if st := w.host("a").Status; st.Provisioning.State != hostapi.StateProvisioned || st.ErrorType != "" {
					t.Errorf("the host that was copied is %s: %s", st.Provisioning.State, st.ErrorMessage)
				}
			})
		})
	}
}

// A host that was never registered comes to name the BMC of a younger one, which
// then fails by itself. After a restart the older one does not take the machine for
// its own.
func TestClashAfterRestart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("older", func(h *hostapi.Host) { h.Spec.BMC.CredentialsName = "missing" })
		w.fails("older", hostapi.RegistrationError)
		time.Sleep(time.Minute)
		w.secret("own", "right")
		w.apply("younger", func(h *hostapi.Host) {
			withImage("http://images/a")(h)
			h.Spec.BMC.CredentialsName = "own"
		})
		w.becomes("younger", hostapi.StateProvisioned)
		w.edit("older", func(h *hostapi.Host) { h.Spec.BMC.Address, h.Spec.BMC.CredentialsName = "fake://younger", "bmc" })
		w.until("older", "refused", func(h hostapi.Host) bool {
			return strings.Contains(h.Status.ErrorMessage, "default/younger")
		})
		w.wrest("own")
		w.fails("younger", hostapi.RegistrationError)
		w.stop()
		w.start()
		time.Sleep(24 * time.Hour)
		if st := w.host("older").Status; st.ErrorType != hostapi.RegistrationError ||
			!strings.Contains(st.ErrorMessage, "default/younger") {
			t.Errorf("the older host is %s: %q", st.OperationalStatus, st.ErrorMessage)
		}
		w.secret("own", "right")
		w.edit("older", func(h *hostapi.Host) { h.Spec.BMC.Address = "fake://older" })
		for _, name := range []string{"older", "younger"} {
			w.until(name, "well", func(h hostapi.Host) bool {
				return h.Status.ErrorType == "" && h.Status.OperationalStatus == hostapi.StatusOK
			})
		}
	})
}
