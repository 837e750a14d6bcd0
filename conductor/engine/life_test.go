package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestLife takes one machine through its whole life, with and without fast
// track, and counts its boots.
func TestLife(t *testing.T) {
	for name, tc := range map[string]struct {
		fast  bool
		boots int // power changes until the instance runs
	}{
		"a boot for each activity": {false, 7},
		"fast track":               {true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.settings.FastTrack, w.settings.FastTrackAny = tc.fast, tc.fast
				w.start()
				defer w.close()
				n := w.create("redfish")
				n = w.ask(n.UUID, node.Manage, node.Manageable)
				if n.PowerState != node.PowerOff || n.BootMode != "uefi" {
					t.Errorf("after verifying: power %q, boot mode %q", n.PowerState, n.BootMode)
				}
				n = w.ask(n.UUID, node.Inspect, node.Manageable)
				if n.Properties["memory_mb"] != float64(512) && n.Properties["memory_mb"] != int64(512) {
					t.Errorf("properties after inspection: %v", n.Properties)
				}
				w.ask(n.UUID, node.Provide, node.Available)
				if st, err := w.e.Status(w.ctx, n.UUID); err != nil || tc.fast != strings.Contains(st.WaitingFor, "kept running") {
					t.Errorf("status after cleaning: waits for %q, %v", st.WaitingFor, err)
				}
				n = w.ask(n.UUID, node.Deploy, node.Active)
				if m := w.of(n.UUID); m.disk != "os.raw" || m.power != node.PowerOn || m.boot != tc.boots {
					t.Errorf("machine after deploy: disk %q, %s, %d power changes (want %d)", m.disk, m.power, m.boot, tc.boots)
				}
				n = w.ask(n.UUID, node.Delete, node.Available)
				if m := w.of(n.UUID); m.disk != "" || len(n.InstanceInfo) > 0 {
					t.Errorf("after undeploy: disk %q, instance_info %v", m.disk, n.InstanceInfo)
				}
				if n.TargetProvisionState != "" || n.Run != nil || n.LastError != "" {
					t.Errorf("at rest: target %q, run %+v, last error %q", n.TargetProvisionState, n.Run, n.LastError)
				}
			})
		})
	}
}

// TestCrash ends the conductor in the middle of a deploy, at one moment after
// the other, by a kill and by a stop; it starts again and the node reaches its
// goal.
func TestCrash(t *testing.T) {
	for i := range 30 {
		at := time.Duration(i)*2*time.Second + time.Duration(i)*150*time.Millisecond
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, uint64(i))
			w.start()
			n := w.create("redfish")
			w.ask(n.UUID, node.Manage, node.Manageable)
			w.ask(n.UUID, node.Provide, node.Available)
			if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Deploy}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(at)
			if i%2 == 0 {
				w.crash()
			} else {
				w.end()
			}
			time.Sleep(2 * time.Second)
			w.start()
			defer w.close()
			if n := w.settled(n.UUID); n.ProvisionState != node.Active {
				t.Errorf("ended after %s: node is %q, %s", at, n.ProvisionState, n.LastError)
			}
		})
	}
}

// TestBootAgain: a machine that hangs on its way into the ramdisk is started again, and the history says so.
func TestBootAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.create("redfish")
		w.ask(n.UUID, node.Manage, node.Manageable)
		w.must(w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}))
		time.Sleep(4 * time.Second)
		w.e.BootStage(n.UUID, "ipxe script", "")
		w.mu.Lock()
		w.of(n.UUID).boot++ // it hangs
		w.mu.Unlock()
		began := time.Now()
		n = w.settled(n.UUID)
		if took := time.Since(began); n.ProvisionState != node.Available || took < 15*time.Minute || took > 20*time.Minute {
			t.Errorf("node is %q after %s: %s", n.ProvisionState, took, n.LastError)
		}
		all, err := w.e.History(w.ctx, n.UUID)
		w.must(err)
		if !slices.ContainsFunc(all, func(h node.HistoryEntry) bool {
			return strings.Contains(h.Event, "went no further than ipxe script") && strings.Contains(h.Event, "try 2 of 3")
		}) {
			t.Errorf("the history does not say that the machine was started again: %v", all)
		}
	})
}

// TestSilence: a machine that never calls fails by its deadline, with the last
// boot stage in the reason.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.settings.BootRetries = 0
		w.start()
		defer w.close()
		n := w.create("redfish")
		w.ask(n.UUID, node.Manage, node.Manageable)
		if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		w.e.BootStage(n.UUID, "kernel", "")
		w.mu.Lock()
		w.of(n.UUID).boot++ // it hangs
		w.mu.Unlock()
		n = w.settled(n.UUID)
		if n.ProvisionState != node.CleanFailed || n.Maintenance ||
			!strings.Contains(n.LastError, "last boot stage seen: kernel") {
			t.Errorf("node is %q, maintenance %v: %s", n.ProvisionState, n.Maintenance, n.LastError)
		}
	})
}

// TestRefusals: bad requests change nothing.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.start()
		defer w.close()
		n := w.create("redfish")
		kind := func(err error) node.Kind {
			var r *node.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("not a refusal: %v", err)
			}
			return r.Kind
		}
		if k := kind(w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Deploy})); k != node.InvalidState {
			t.Errorf("deploy from enroll: %v", k)
		}
		if k := kind(w.e.Provision(w.ctx, "nobody", plan.Request{Verb: node.Manage})); k != node.NotFound {
			t.Errorf("unknown node: %v", k)
		}
		if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Manage}); err != nil {
			t.Fatal(err)
		}
		if k := kind(w.e.SetPower(w.ctx, n.UUID, node.PowerOn, 0)); k != node.Locked {
			t.Errorf("power while verifying: %v", k)
		}
		if k := kind(w.e.DeleteNode(w.ctx, n.UUID)); k != node.Locked {
			t.Errorf("delete while verifying: %v", k)
		}
		w.settled(n.UUID)
		if k := kind(w.e.SetPower(w.ctx, n.UUID, "sideways", 0)); k != node.Invalid {
			t.Errorf("power sideways: %v", k)
		}
		if err := w.e.SetPower(w.ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		if n := w.settled(n.UUID); n.PowerState != node.PowerOn || n.TargetPowerState != "" {
			t.Errorf("power %q, target %q", n.PowerState, n.TargetPowerState)
		}
		if err := w.e.DeleteNode(w.ctx, n.UUID); err != nil {
			t.Error(err)
		}
	})
}
