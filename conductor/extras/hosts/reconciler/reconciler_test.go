package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// in runs a test in a world with a secret, in virtual time.
func in(t *testing.T, test func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, mem.New())
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		test(t, w)
	})
}

// TestLife takes a host from its document to its end.
func TestLife(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", nil)
		h := w.becomes("a", hostapi.StateAvailable)
		if h.Status.Hardware.RAMMebibytes != 8192 || h.Status.Hardware.SystemVendor.ProductName != "Sky" {
			t.Errorf("what was found is not told: %+v", h.Status.Hardware)
		}
		data, err := objects.Get[hostapi.HardwareData](context.Background(), w.docs, "default", "a")
		w.check(err)
		if diff := cmp.Diff(h.Status.Hardware, data.Spec.Hardware); diff != "" || len(data.OwnerReferences) != 1 ||
			data.OwnerReferences[0].UID != h.UID {
			t.Errorf("HardwareData of %v (-want +got):\n%s", data.OwnerReferences, diff)
		}
		w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })

		w.data("user", map[string][]byte{"userData": []byte("#cloud-config")})
		w.data("net", map[string][]byte{"networkData": []byte("links: []")})
		w.edit("a", func(h *hostapi.Host) {
			withImage("http://images/a")(h)
			h.Spec.UserData, h.Spec.NetworkData = &hostapi.SecretReference{Name: "user"}, &hostapi.SecretReference{Name: "net"}
		})
		h = w.becomes("a", hostapi.StateProvisioned)
		n := w.node("a")
		if n.ProvisionState != node.Active || n.InstanceUUID != h.UID || h.Status.Provisioning.ID != n.UUID ||
			h.Status.Provisioning.Image.URL != "http://images/a" {
			t.Errorf("host %+v, node %s of instance %s", h.Status.Provisioning, n.ProvisionState, n.InstanceUUID)
		}
		drive, _ := n.InstanceInfo["configdrive"].(map[string]any)
		meta, _ := drive["meta_data"].(map[string]any)
		if drive["user_data"] != "#cloud-config" || drive["network_data"] == nil || meta["metal3-name"] != "a" ||
			meta["uuid"] != h.UID {
			t.Errorf("the config drive says %v", drive)
		}

		w.edit("a", func(h *hostapi.Host) { h.Spec.Image.Checksum = "11" })
		synctest.Wait()
		if s := w.host("a").Status.Provisioning.State; s != hostapi.StateProvisioned {
			t.Errorf("another checksum makes the host %s", s)
		}
		w.edit("a", withImage("http://images/b"))
		w.until("a", "reprovisioned", func(h hostapi.Host) bool {
			p := h.Status.Provisioning
			return p.State == hostapi.StateProvisioned && p.Image.URL == "http://images/b"
		})

		w.remove("a")
		w.gone("a")
		if p := w.machines.state["<nil>default~a"]; p != node.PowerOff {
			t.Errorf("a deleted host leaves its machine %q", p)
		}
		if _, err := w.eng.Node(context.Background(), "default~a"); !errors.Is(err, node.ErrNotFound) {
			t.Errorf("the node is there still: %v", err)
		}
		if _, err := objects.Get[hostapi.HardwareData](context.Background(), w.docs, "default", "a"); !errors.Is(err,
			objects.ErrNotFound) {
			t.Errorf("the HardwareData is there still: %v", err)
		}
		want := strings.Fields("Registered BMCAccessValidated InspectionStarted InspectionComplete " +
			"PreparationComplete PowerOn " +
			"ProvisioningStarted ProvisioningComplete " +
			"DeprovisioningStarted DeprovisioningComplete ProvisioningStarted ProvisioningComplete " +
			"DeprovisioningStarted DeprovisioningComplete PowerOff")
		if diff := cmp.Diff(want, w.told); diff != "" {
			t.Errorf("what was told has happened (-want +got):\n%s", diff)
		}
	})
}

// A node that is deleted behind a provisioned host is registered and adopted
// again, and its machine never notices.
func TestRepopulation(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
		before, cycles := w.node("a"), w.machines.powerCycles()
		for deleted := false; !deleted; { // the host takes it out of maintenance again, which may be first
			w.check(w.eng.SetMaintenance(context.Background(), before.UUID, true, "to be lost"))
			deleted = w.eng.DeleteNode(context.Background(), before.UUID) == nil
		}
		h := w.until("a", "adopted", func(h hostapi.Host) bool {
			n, err := w.eng.Node(context.Background(), "default~a")
			return err == nil && n.ProvisionState == node.Active && h.Status.Provisioning.ID == n.UUID
		})
		time.Sleep(time.Hour)
		after := w.node("a")
		if h.Status.Provisioning.State != hostapi.StateProvisioned || after.UUID == before.UUID ||
			w.machines.powerCycles() != cycles {
			t.Errorf("%s, node %s after %s, %d power changes", h.Status.Provisioning.State, after.UUID, before.UUID,
				w.machines.powerCycles()-cycles)
		}
		if after.InstanceInfo["image_source"] != "http://images/a" || after.InstanceUUID != h.UID {
			t.Errorf("the node knows nothing of what runs: %+v", after.InstanceInfo)
		}
	})
}

// A detached host is left alone, even if its document changes; then it is taken back as it is.
func TestDetached(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.until("a", "provisioned and on", func(h hostapi.Host) bool {
			return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.PoweredOn
		})
		detached := func(h hostapi.Host) bool { return h.Status.OperationalStatus == hostapi.StatusDetached }
		w.edit("a", annotate(hostapi.AnnotationDetached, ""))
		w.until("a", "detached", detached)
		cycles := w.machines.powerCycles()
		w.edit("a", func(h *hostapi.Host) { h.Spec.Online = false })
		time.Sleep(time.Hour)
		if _, err := w.eng.Node(context.Background(), "default~a"); !errors.Is(err, node.ErrNotFound) ||
			w.machines.powerCycles() != cycles {
			t.Errorf("a detached host has a node (%v), or its machine was touched", err)
		}
		w.edit("a", func(h *hostapi.Host) { h.Spec.Online = true })
		w.edit("a", unannotate(hostapi.AnnotationDetached))
		w.until("a", "attached", func(h hostapi.Host) bool {
			n, err := w.eng.Node(context.Background(), "default~a")
			return h.Status.OperationalStatus == hostapi.StatusOK && err == nil && n.ProvisionState == node.Active
		})
		w.edit("a", annotate(hostapi.AnnotationDetached, `{"deleteAction":"delay"}`))
		w.until("a", "detached", detached)
		w.remove("a")
		time.Sleep(time.Hour)
		if h := w.host("a"); h.DeletionTimestamp == nil || h.Status.Provisioning.State != hostapi.StateProvisioned {
			t.Errorf("the deletion is not delayed: %s", h.Status.Provisioning.State)
		}
		w.edit("a", annotate(hostapi.AnnotationDetached, ""))
		w.gone("a")
		if w.machines.powerCycles() != cycles {
			t.Error("the machine of a detached host was touched")
		}
	})
}

// Nothing is done for a paused host.
func TestPaused(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", func(h *hostapi.Host) { h.Annotations = map[string]string{hostapi.AnnotationPaused: ""} })
		time.Sleep(time.Hour)
		if h := w.host("a"); h.Status.LastUpdated != nil || len(h.Finalizers) > 0 {
			t.Errorf("a paused host was looked at: %+v", h.Status)
		}
		w.edit("a", unannotate(hostapi.AnnotationPaused))
		w.becomes("a", hostapi.StateAvailable)
	})
}

// One reboot goes off and on again; a key keeps the machine off until it goes.
func TestReboots(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		on := func(h hostapi.Host) bool {
			return h.Status.Provisioning.State == hostapi.StateProvisioned && h.Status.PoweredOn
		}
		w.until("a", "on", on)
		cycles := w.machines.powerCycles()
		w.edit("a", annotate(hostapi.AnnotationReboot, `{"mode":"hard"}`))
		w.until("a", "rebooted", func(h hostapi.Host) bool {
			return on(h) && len(h.Annotations) == 0 && w.machines.powerCycles() == cycles+2
		})
		w.edit("a", annotate(hostapi.AnnotationReboot+"/fence", ""))
		w.until("a", "off", func(h hostapi.Host) bool { return !h.Status.PoweredOn })
		time.Sleep(time.Hour)
		if w.machines.powerCycles() != cycles+3 {
			t.Errorf("%d power changes, want 3", w.machines.powerCycles()-cycles)
		}
		w.edit("a", unannotate(hostapi.AnnotationReboot+"/fence"))
		w.until("a", "on", on)
	})
}

// Wrong credentials are said, and the right ones tried at once.
func TestCredentials(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.secret("bmc", "wrong")
		w.apply("a", nil)
		h := w.fails("a", hostapi.RegistrationError)
		if !strings.Contains(h.Status.ErrorMessage, "refuses the password") || h.Status.GoodCredentials.Reference != nil {
			t.Errorf("%q, good: %+v", h.Status.ErrorMessage, h.Status.GoodCredentials)
		}
		at := time.Now()
		w.secret("bmc", "right")
		h = w.becomes("a", hostapi.StateAvailable)
		if took := time.Since(at); took > 30*time.Second ||
			h.Status.GoodCredentials.Version != h.Status.TriedCredentials.Version || h.Status.ErrorCount != 0 {
			t.Errorf("after %s, %+v", took, h.Status)
		}
	})
}

// A secret that was deleted by force is reported, and changes nothing else.
func TestSecretGone(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		w.wrest("bmc")
		h := w.fails("a", hostapi.RegistrationError)
		if want := "the secret default/bmc of spec.bmc.credentialsName " +
			"does not exist"; !strings.Contains(h.Status.ErrorMessage, want) || w.node("a").ProvisionState != node.Active {
			t.Errorf("%q, want %q; node %s", h.Status.ErrorMessage, want, w.node("a").ProvisionState)
		}
		w.secret("bmc", "right")
		w.until("a", "well", func(h hostapi.Host) bool { return h.Status.ErrorType == "" })
		w.wrest("bmc")
		w.remove("a")
		w.gone("a")
		if p := w.machines.state["<nil>default~a"]; p != node.PowerOff {
			t.Errorf("the machine is left %q", p)
		}
	})
}

// A node comes to rest while a new conductor takes its first look at it. That look finds it by name, since its host
// does not know it yet. It is looked at again at once, rather than with all nodes at work.
func TestNodeRestsAtFirstSight(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.machines.slowness(10 * time.Second)
		w.apply("a", nil)
		time.Sleep(5 * time.Second)
		if s := w.node("a").ProvisionState; s != node.Verifying || w.host("a").Status.Provisioning.ID != "" {
			t.Fatalf("the node is %s, and the host knows it as %q", s, w.host("a").Status.Provisioning.ID)
		}
		w.stop()
		var first sync.Once
		w.glance = func(node.Node) {
			first.Do(func() { time.Sleep(15 * time.Second); w.machines.slowness(0) })
		}
		begun := time.Now()
		w.start()
		w.becomes("a", hostapi.StateAvailable)
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("available after %s", took)
		}
	})
}

// A deploy that fails is reported, its remains are removed, and it is tried again, less and less often. Another image
// is tried at once.
func TestDeployFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.machines.failing("http://images/a", errors.New("no suitable disk: none matches serial s== nothing"))
		w.apply("a", func(h *hostapi.Host) {
			withImage("http://images/a")(h)
			h.Spec.RootDeviceHints = &hostapi.RootDeviceHints{SerialNumber: "nothing"}
		})
		h := w.fails("a", hostapi.ProvisioningError)
		if !strings.Contains(h.Status.ErrorMessage, "none matches serial") ||
			h.Status.Provisioning.State != hostapi.StateProvisioning {
			t.Errorf("%s: %q", h.Status.Provisioning.State, h.Status.ErrorMessage)
		}
		times := make([]time.Duration, 3)
		for i := range times {
			at := time.Now()
			w.until("a", "tried again", func(h hostapi.Host) bool { return h.Status.ProvisioningFailCount == i+1 })
			times[i] = time.Since(at)
		}
		if times[0] > 2*time.Minute || times[2] < 4*time.Minute {
			t.Errorf("tried again after %s", times)
		}
		if h = w.host("a"); h.Status.OperationHistory.Deprovision.End.IsZero() {
			t.Error("nothing was taken away")
		}
		w.edit("a", withImage("http://images/b"))
		if h = w.becomes("a", hostapi.StateProvisioned); h.Status.ProvisioningFailCount != 0 {
			t.Errorf("%d failures are remembered", h.Status.ProvisioningFailCount)
		}
	})
}

// A machine that cannot be switched off is given up in the end.
func TestDeletedAllTheSame(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", nil)
		w.until("a", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
		w.machines.mu.Lock()
		w.machines.stuck = true
		w.machines.mu.Unlock()
		w.remove("a")
		if h := w.fails("a", hostapi.PowerManagementError); !strings.Contains(h.Status.ErrorMessage, "power supply") {
			t.Errorf("got %q", h.Status.ErrorMessage)
		}
		w.gone("a")
	})
}

// TestRestart stops a conductor in every state a host goes through, and has
// another one go on.
func TestRestart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", withImage("http://images/a"))
		seen := map[hostapi.State]bool{}
		step := func(until func(hostapi.Host) bool) {
			t.Helper()
			for range 10_000 {
				h, err := objects.Get[hostapi.Host](context.Background(), w.docs, "default", "a")
				if errors.Is(err, objects.ErrNotFound) || err == nil && until != nil && until(h) {
					return
				}
				w.check(err)
				if s := h.Status.Provisioning.State; !seen[s] {
					seen[s] = true
					w.stop()
					w.start()
				}
				time.Sleep(time.Microsecond)
			}
			t.Fatalf("the host stays %q", w.host("a").Status.Provisioning.State)
		}
		w.becomesWith(step, hostapi.StateProvisioned, "http://images/a")
		w.edit("a", withImage("http://images/b"))
		w.becomesWith(step, hostapi.StateProvisioned, "http://images/b")
		w.stop()
		w.start()
		w.remove("a")
		step(nil)
		t.Logf("stopped in %d states: %v", len(seen), seen)
		w.gone("a")
	})
}

// becomesWith steps until the host has come to a state with an image.
func (w *world) becomesWith(step func(func(hostapi.Host) bool), s hostapi.State, image string) {
	w.tb.Helper()
	step(func(h hostapi.Host) bool {
		p := h.Status.Provisioning
		return p.State == s && p.Image != nil && p.Image.URL == image
	})
}
