package reconciler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestAskedForIsDone: an error that asks for a change elsewhere ends within seconds of that change, however far away
// the next turn by back-off is.
func TestAskedForIsDone(t *testing.T) {
	ctx := context.Background()
	aNode := func(w *world, name string, info map[string]any) node.Node {
		n, err := w.eng.CreateNode(ctx, node.Node{Driver: "fake-hardware", Name: name, DriverInfo: info})
		w.check(err)
		return n
	}
	withMAC := func(h *hostapi.Host) { h.Spec.BootMACAddress = "52:54:00:00:00:01" }
	withBMC := func(h *hostapi.Host) { h.Spec.BMC.Address = "fake://bmc/1" }
	for name, c := range map[string]struct {
		host  func(*hostapi.Host)
		fails hostapi.ErrorType
		cause func(w *world)
		done  func(w *world)
	}{
		"the conductor has other flags": {nil, hostapi.RegistrationError,
			func(w *world) { w.machines.silence(true) },
			func(w *world) {
				w.stop()
				w.machines.silence(false)
				w.machines.bmcs = newBMCs()
				w.start()
			}},
		"a node with the BMC is deleted": {withBMC, hostapi.RegistrationError,
			func(w *world) { aNode(w, "theirs", map[string]any{"fake_address": "bmc", "fake_system_id": "1"}) },
			func(w *world) { w.check(w.eng.DeleteNode(ctx, "theirs")) }},
		"a node loses the address": {withMAC, hostapi.RegistrationError,
			func(w *world) {
				_, err := w.eng.CreatePort(ctx,
					node.Port{UUID: "6f1e7d0c-5a43-4d43-9d3c-0f2b8b1f7a12", NodeUUID: aNode(w, "theirs", nil).UUID,
						Address: "52:54:00:00:00:01"})
				w.check(err)
			},
			func(w *world) { w.check(w.eng.DeletePort(ctx, "6f1e7d0c-5a43-4d43-9d3c-0f2b8b1f7a12")) }},
		"a node in use gives the name back": {nil, hostapi.RegistrationError,
			func(w *world) {
				n := aNode(w, "default~a", nil)
				_, err := w.eng.UpdateNode(ctx, n.UUID, func(n *node.Node) error {
					n.InstanceUUID = "6f1e7d0c-5a43-4d43-9d3c-0f2b8b1f7a11"
					return nil
				})
				w.check(err)
			},
			func(w *world) {
				_, err := w.eng.UpdateNode(ctx, "default~a", func(n *node.Node) error { n.Name = "theirs"; return nil })
				w.check(err)
			}},
		"an image is added": {withImage("image:debian"), hostapi.ProvisioningError,
			func(w *world) { w.machines.failing("image:debian", errors.New("there is no image debian")) },
			func(w *world) { w.machines.failing("image:debian", nil); w.rec.ImageAdded("debian") }},
		"a secret is edited": {
			func(h *hostapi.Host) {
				withImage("http://images/a")(h)
				h.Spec.UserData = &hostapi.SecretReference{Name: "user"}
			}, hostapi.ProvisioningError,
			func(w *world) {
				w.data("user", map[string][]byte{"userData": []byte("one")})
				w.machines.failing("http://images/a", errors.New("the user data are too large"))
			},
			func(w *world) {
				w.machines.failing("http://images/a", nil)
				w.data("user", map[string][]byte{"userData": []byte("two")})
			}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				c.cause(w)
				w.apply("a", c.host)
				w.until("a", "failed thrice", func(h hostapi.Host) bool {
					return h.Status.ErrorType == c.fails && max(h.Status.ErrorCount, h.Status.ProvisioningFailCount) >= 3
				})
				at := time.Now()
				c.done(w)
				w.until("a", "well", func(h hostapi.Host) bool {
					s := h.Status.Provisioning.State
					return h.Status.ErrorType == "" && (s == hostapi.StateProvisioned || s == hostapi.StateAvailable && c.fails !=
						hostapi.ProvisioningError)
				})
				if took := time.Since(at); took > 10*time.Second {
					t.Errorf("the host is well after %s", took)
				}
			})
		})
	}
}
