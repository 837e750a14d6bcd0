package powersync_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func always(int) bool { return true }

// A BMC that is silent for long takes its node out of service and, once it
// answers, back into it; the power state stands meanwhile, and only the two
// changes are written.
func TestSilentBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		time.Sleep(10 * time.Minute)
		b.Wrote(0, "while all is as recorded")
		if k := b.Readings(n.UUID); k < 9 || k > 11 {
			t.Errorf("read %d times in 10 minutes, want once a minute", k)
		}

		b.Set(func() { b.Silent = always; clear(b.Reads) })
		time.Sleep(4 * time.Minute)
		b.Wrote(0, "after a short silence")
		time.Sleep(5 * time.Minute)
		b.Wrote(1, "after a long silence")
		n = b.Node(n.UUID)
		if !n.Maintenance || n.Fault != plan.PowerFailure || n.PowerState != node.PowerOff ||
			n.LastError != n.MaintenanceReason {
			t.Errorf("after a long silence: maintenance %v, fault %q, power %q, last error %q", n.Maintenance, n.Fault,
				n.PowerState, n.LastError)
		}
		if !strings.Contains(n.MaintenanceReason, enginetest.ErrSilent.Error()) {
			t.Errorf("the maintenance reason is %q", n.MaintenanceReason)
		}

		b.Set(func() { b.Silent = nil })
		time.Sleep(5*time.Minute + time.Second)
		b.Wrote(1, "after the BMC has come back")
		n = b.Node(n.UUID)
		if n.Maintenance || n.Fault+n.MaintenanceReason+n.LastError != "" {
			t.Errorf("back again: maintenance %v, fault %q, reason %q, last error %q", n.Maintenance, n.Fault,
				n.MaintenanceReason, n.LastError)
		}
		if diff := cmp.Diff([]string{"ERROR", "INFO"}, b.Monitored(n.UUID)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// A silent BMC is asked ever less often, down to every five minutes.
func TestSilentBMCIsLetAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Set(func() { b.Silent = always })
		time.Sleep(30 * time.Minute)
		pauses := b.Pauses(n.UUID)
		want := []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute}
		if len(pauses) < 6 || !slices.Equal(pauses[:3], want) || slices.Min(pauses[4:]) != 5*time.Minute ||
			slices.Max(pauses[4:]) != 5*time.Minute {
			t.Errorf("pauses between readings: %v, want %v, then five minutes", pauses, want)
		}
	})
}

// A BMC that answers now and then moves nothing.
func TestFlappingBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Set(func() { b.Silent = func(nth int) bool { return nth%3 != 0 } })
		time.Sleep(3 * time.Hour)
		b.Wrote(0, "while the BMC answers now and then")
		if n := b.Node(n.UUID); n.Maintenance {
			t.Errorf("the node is in maintenance: %s", n.MaintenanceReason)
		}
	})
}

// TestRecordAndMachineDisagree: a setting decides which of them is changed.
func TestRecordAndMachineDisagree(t *testing.T) {
	for name, tc := range map[string]struct {
		force, deaf, keepOn bool
		sets                []node.PowerState
		power               node.PowerState
		history             []string
		maintenance         bool
	}{
		"the record follows": {power: node.PowerOn, history: []string{"INFO"}},
		"the machine is forced": {force: true, power: node.PowerOff, sets: []node.PowerState{node.PowerOff},
			history: []string{"INFO"}},
		"but never against its owner": {force: true, keepOn: true, power: node.PowerOn, history: []string{"INFO"}},
		"and not for ever": {force: true, deaf: true, power: node.PowerOn, maintenance: true,
			sets:    []node.PowerState{node.PowerOff, node.PowerOff, node.PowerOff},
			history: []string{"INFO", "INFO", "INFO", "ERROR"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.NewBoards(t)
				b.Settings.ForcePowerState = tc.force
				b.Start()
				defer b.Close()
				n := b.Managed()
				if _, err := b.E.UpdateNode(b.Ctx, n.UUID, func(n *node.Node) error {
					n.DisablePowerOff = tc.keepOn
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				b.Push(n.UUID, node.PowerOn)
				b.Set(func() { b.Deaf = tc.deaf })
				for range 600 { // until it is settled, not long enough to leave maintenance
					if time.Sleep(time.Second); len(b.Monitored(n.UUID)) == len(tc.history) && b.Node(n.UUID).TargetPowerState == "" {
						break
					}
				}
				n = b.Node(n.UUID)
				if n.PowerState != tc.power || b.PowerOf(n.UUID) != tc.power || n.Maintenance != tc.maintenance ||
					n.TargetPowerState != "" {
					t.Errorf("recorded %q, machine %q (want both %q), target %q, maintenance %v: %s",
						n.PowerState, b.PowerOf(n.UUID), tc.power, n.TargetPowerState, n.Maintenance, n.MaintenanceReason)
				}
				if diff := cmp.Diff(tc.sets, b.Pressed()); diff != "" {
					t.Errorf("changes of power (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.history, b.Monitored(n.UUID)); diff != "" {
					t.Errorf("history (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Nodes that are not ours to look after, or that are being worked on, are not
// asked at all.
func TestLeftAlone(t *testing.T) {
	for name, arrange := range map[string]func(b *enginetest.Boards) node.Node{
		"enroll": func(b *enginetest.Boards) node.Node { return b.Create("redfish") },
		"maintenance": func(b *enginetest.Boards) node.Node {
			n := b.Managed()
			if err := b.E.SetMaintenance(b.Ctx, n.UUID, true, "new fans"); err != nil {
				b.T.Fatal(err)
			}
			return n
		},
		"a run under way": func(b *enginetest.Boards) node.Node {
			n := b.Managed()
			if err := b.E.Provision(b.Ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
				b.T.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			b.World.Mu.Lock()
			b.Machine(n.UUID).Boot++ // it hangs: clean wait until the deadline
			b.World.Mu.Unlock()
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.NewBoards(t)
				b.Settings.BootRetries = 0
				b.Start()
				defer b.Close()
				n := arrange(b)
				time.Sleep(time.Second)
				before := b.Readings(n.UUID)
				b.Push(n.UUID, node.PowerOn)
				time.Sleep(20 * time.Minute)
				if k := b.Readings(n.UUID) - before; k != 0 {
					t.Errorf("read %d times, the node is %q", k, b.Node(n.UUID).ProvisionState)
				}
			})
		})
	}
}

// A reserved node is not written, and a reading that began before a change of
// power does not undo it.
func TestReadingIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Settings.ForcePowerState = true
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Push(n.UUID, node.PowerOn)
		for b.Readings(n.UUID) == 0 { // the first of the two that would force it off
			time.Sleep(100 * time.Millisecond)
		}
		b.Set(func() { b.Slow = 8 * time.Second })
		for b.Readings(n.UUID) == 1 {
			time.Sleep(100 * time.Millisecond)
		}
		if err := b.E.SetPower(b.Ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		if n := b.Node(n.UUID); n.TargetPowerState != node.PowerOn {
			t.Errorf("target_power_state is %q while power on is under way", n.TargetPowerState)
		}
		time.Sleep(10 * time.Minute)
		n = b.Node(n.UUID)
		if n.PowerState != node.PowerOn || slices.Contains(b.Pressed(), node.PowerOff) || len(b.Monitored(n.UUID)) > 0 {
			t.Errorf("recorded %q, asked for %v, history %v", n.PowerState, b.Pressed(), b.Monitored(n.UUID))
		}
	})
}

// A node that is deleted while it is being read leaves nothing behind.
func TestDeletedWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Push(n.UUID, node.PowerOn)
		b.Set(func() { b.Slow = 5 * time.Second })
		for b.Readings(n.UUID) < 2 { // the next result would be written
			time.Sleep(100 * time.Millisecond)
		}
		if err := b.E.DeleteNode(b.Ctx, n.UUID); err != nil {
			t.Fatal(err)
		}
		b.Wrote(1, "deleting the node")
		time.Sleep(10 * time.Minute)
		b.Wrote(0, "after the node was deleted")
		if k := b.Readings(n.UUID); k != 2 {
			t.Errorf("read %d times, want twice", k)
		}
	})
}

// TestPowerSyncAfterARestart: nodes in maintenance at the end of the conductor are found again at the next start;
// counts begin afresh.
func TestPowerSyncAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		lost, well := b.Managed(), b.Managed()
		b.Set(func() { b.Silent = always })
		time.Sleep(5 * time.Minute) // three readings have failed
		b.End()
		b.Start()
		time.Sleep(2 * time.Minute)
		if n := b.Node(lost.UUID); n.Maintenance {
			t.Errorf("two readings after the start: %s", n.MaintenanceReason)
		}
		time.Sleep(10 * time.Minute)
		if n := b.Node(lost.UUID); n.Fault != plan.PowerFailure {
			t.Errorf("the fault is %q", n.Fault)
		}
		b.Crash()
		b.Set(func() { b.Silent = nil })
		b.Start()
		defer b.Close()
		time.Sleep(5*time.Minute + time.Second)
		for _, id := range []string{lost.UUID, well.UUID} {
			if n := b.Node(id); n.Maintenance {
				t.Errorf("node %s is still in maintenance: %s", id, n.MaintenanceReason)
			}
			if s, err := b.E.Status(b.Ctx, id); err != nil || time.Since(s.PowerReadAt) > time.Minute {
				t.Errorf("the last good reading was at %s (%v), it is %s", s.PowerReadAt, err, time.Now())
			}
		}
	})
}

// Maintenance that an operator asks for outlives the power failure before it.
func TestMaintenanceOfAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Set(func() { b.Silent = always })
		time.Sleep(15 * time.Minute)
		if n := b.Node(n.UUID); n.Fault != plan.PowerFailure {
			t.Fatalf("fault %q", n.Fault)
		}
		if err := b.E.SetMaintenance(b.Ctx, n.UUID, true, "new fans"); err != nil {
			t.Fatal(err)
		}
		b.Set(func() { b.Silent = nil })
		time.Sleep(time.Hour)
		if n := b.Node(n.UUID); !n.Maintenance || n.MaintenanceReason != "new fans" || n.Fault != "" {
			t.Errorf("maintenance %v %q, fault %q", n.Maintenance, n.MaintenanceReason, n.Fault)
		}
	})
}

// A driver that panics has not answered.
func TestPanicWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Set(func() { b.Silent = func(int) bool { panic("index out of range") } })
		time.Sleep(15 * time.Minute)
		if n := b.Node(n.UUID); n.Fault != plan.PowerFailure || !strings.Contains(n.MaintenanceReason, "index out of range") {
			t.Errorf("fault %q: %s", n.Fault, n.MaintenanceReason)
		}
	})
}
