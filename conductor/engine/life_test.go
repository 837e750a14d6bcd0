package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
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
				w := enginetest.New(t, 1)
				w.Settings.FastTrack, w.Settings.FastTrackAny = tc.fast, tc.fast
				w.Start()
				defer w.Close()
				n := w.Create("redfish")
				n = w.Ask(n.UUID, node.Manage, node.Manageable)
				if n.PowerState != node.PowerOff || n.BootMode != "uefi" {
					t.Errorf("after verifying: power %q, boot mode %q", n.PowerState, n.BootMode)
				}
				n = w.Ask(n.UUID, node.Inspect, node.Manageable)
				if n.Properties["memory_mb"] != float64(512) && n.Properties["memory_mb"] != int64(512) {
					t.Errorf("properties after inspection: %v", n.Properties)
				}
				w.Ask(n.UUID, node.Provide, node.Available)
				if st, err := w.E.Status(w.Ctx, n.UUID); err != nil || tc.fast != strings.Contains(st.WaitingFor, "kept running") {
					t.Errorf("status after cleaning: waits for %q, %v", st.WaitingFor, err)
				}
				n = w.Ask(n.UUID, node.Deploy, node.Active)
				if m := w.Machine(n.UUID); m.Disk != "os.raw" || m.Power != node.PowerOn || m.Boot != tc.boots {
					t.Errorf("machine after deploy: disk %q, %s, %d power changes (want %d)", m.Disk, m.Power, m.Boot, tc.boots)
				}
				n = w.Ask(n.UUID, node.Delete, node.Available)
				if m := w.Machine(n.UUID); m.Disk != "" || len(n.InstanceInfo) > 0 {
					t.Errorf("after undeploy: disk %q, instance_info %v", m.Disk, n.InstanceInfo)
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
			w := enginetest.New(t, uint64(i))
			w.Start()
			n := w.Create("redfish")
			w.Ask(n.UUID, node.Manage, node.Manageable)
			w.Ask(n.UUID, node.Provide, node.Available)
			if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Deploy}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(at)
			if i%2 == 0 {
				w.Crash()
			} else {
				w.End()
			}
			time.Sleep(2 * time.Second)
			w.Start()
			defer w.Close()
			if n := w.Settled(n.UUID); n.ProvisionState != node.Active {
				t.Errorf("ended after %s: node is %q, %s", at, n.ProvisionState, n.LastError)
			}
		})
	}
}

// TestBootAgain: a machine that hangs on its way into the ramdisk is started again, and the history says so.
func TestBootAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
		time.Sleep(4 * time.Second)
		w.E.BootStage(n.UUID, "ipxe script", "")
		w.Mu.Lock()
		w.Machine(n.UUID).Boot++ // it hangs
		w.Mu.Unlock()
		began := time.Now()
		n = w.Settled(n.UUID)
		if took := time.Since(began); n.ProvisionState != node.Available || took < 15*time.Minute || took > 20*time.Minute {
			t.Errorf("node is %q after %s: %s", n.ProvisionState, took, n.LastError)
		}
		all, err := w.E.History(w.Ctx, n.UUID)
		w.Must(err)
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
		w := enginetest.New(t, 1)
		w.Settings.BootRetries = 0
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		w.E.BootStage(n.UUID, "kernel", "")
		w.Mu.Lock()
		w.Machine(n.UUID).Boot++ // it hangs
		w.Mu.Unlock()
		n = w.Settled(n.UUID)
		if n.ProvisionState != node.CleanFailed || n.Maintenance ||
			!strings.Contains(n.LastError, "last boot stage seen: kernel") {
			t.Errorf("node is %q, maintenance %v: %s", n.ProvisionState, n.Maintenance, n.LastError)
		}
	})
}

// TestRefusals: bad requests change nothing.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		kind := func(err error) node.Kind {
			var r *node.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("not a refusal: %v", err)
			}
			return r.Kind
		}
		if k := kind(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Deploy})); k != node.InvalidState {
			t.Errorf("deploy from enroll: %v", k)
		}
		if k := kind(w.E.Provision(w.Ctx, "nobody", plan.Request{Verb: node.Manage})); k != node.NotFound {
			t.Errorf("unknown node: %v", k)
		}
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Manage}); err != nil {
			t.Fatal(err)
		}
		if k := kind(w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0)); k != node.Locked {
			t.Errorf("power while verifying: %v", k)
		}
		if k := kind(w.E.DeleteNode(w.Ctx, n.UUID)); k != node.Locked {
			t.Errorf("delete while verifying: %v", k)
		}
		w.Settled(n.UUID)
		if k := kind(w.E.SetPower(w.Ctx, n.UUID, "sideways", 0)); k != node.Invalid {
			t.Errorf("power sideways: %v", k)
		}
		if err := w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		if n := w.Settled(n.UUID); n.PowerState != node.PowerOn || n.TargetPowerState != "" {
			t.Errorf("power %q, target %q", n.PowerState, n.TargetPowerState)
		}
		if err := w.E.DeleteNode(w.Ctx, n.UUID); err != nil {
			t.Error(err)
		}
	})
}
