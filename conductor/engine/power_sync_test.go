package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

func always(int) bool { return true }

// A BMC that is silent for long takes its node out of service and, once it
// answers, back into it; the power state stands meanwhile, and only the two
// changes are written.
func TestSilentBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		time.Sleep(10 * time.Minute)
		b.wrote(0, "while all is as recorded")
		if k := b.readings(n.UUID); k < 9 || k > 11 {
			t.Errorf("read %d times in 10 minutes, want once a minute", k)
		}

		b.set(func() { b.silent = always; clear(b.reads) })
		time.Sleep(4 * time.Minute)
		b.wrote(0, "after a short silence")
		time.Sleep(5 * time.Minute)
		b.wrote(1, "after a long silence")
		n = b.node(n.UUID)
		if !n.Maintenance || n.Fault != plan.PowerFailure || n.PowerState != node.PowerOff ||
			n.LastError != n.MaintenanceReason {
			t.Errorf("after a long silence: maintenance %v, fault %q, power %q, last error %q", n.Maintenance, n.Fault,
				n.PowerState, n.LastError)
		}
		if !strings.Contains(n.MaintenanceReason, errSilent.Error()) {
			t.Errorf("the maintenance reason is %q", n.MaintenanceReason)
		}

		b.set(func() { b.silent = nil })
		time.Sleep(5*time.Minute + time.Second)
		b.wrote(1, "after the BMC has come back")
		n = b.node(n.UUID)
		if n.Maintenance || n.Fault+n.MaintenanceReason+n.LastError != "" {
			t.Errorf("back again: maintenance %v, fault %q, reason %q, last error %q", n.Maintenance, n.Fault,
				n.MaintenanceReason, n.LastError)
		}
		if diff := cmp.Diff([]string{"ERROR", "INFO"}, b.monitored(n.UUID)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// A silent BMC is asked ever less often, down to every five minutes.
func TestSilentBMCIsLetAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		b.set(func() { b.silent = always })
		time.Sleep(30 * time.Minute)
		pauses := b.pauses(n.UUID)
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
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		b.set(func() { b.silent = func(nth int) bool { return nth%3 != 0 } })
		time.Sleep(3 * time.Hour)
		b.wrote(0, "while the BMC answers now and then")
		if n := b.node(n.UUID); n.Maintenance {
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
				b := newBoards(t)
				b.settings.ForcePowerState = tc.force
				b.start()
				defer b.close()
				n := b.managed()
				if _, err := b.e.UpdateNode(b.ctx, n.UUID, func(n *node.Node) error {
					n.DisablePowerOff = tc.keepOn
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				b.push(n.UUID, node.PowerOn)
				b.set(func() { b.deaf = tc.deaf })
				for range 600 { // until it is settled, not long enough to leave maintenance
					if time.Sleep(time.Second); len(b.monitored(n.UUID)) == len(tc.history) && b.node(n.UUID).TargetPowerState == "" {
						break
					}
				}
				n = b.node(n.UUID)
				if n.PowerState != tc.power || b.powerOf(n.UUID) != tc.power || n.Maintenance != tc.maintenance ||
					n.TargetPowerState != "" {
					t.Errorf("recorded %q, machine %q (want both %q), target %q, maintenance %v: %s",
						n.PowerState, b.powerOf(n.UUID), tc.power, n.TargetPowerState, n.Maintenance, n.MaintenanceReason)
				}
				if diff := cmp.Diff(tc.sets, b.pressed()); diff != "" {
					t.Errorf("changes of power (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.history, b.monitored(n.UUID)); diff != "" {
					t.Errorf("history (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Nodes that are not ours to look after, or that are being worked on, are not
// asked at all.
func TestLeftAlone(t *testing.T) {
	for name, arrange := range map[string]func(b *boards) node.Node{
		"enroll": func(b *boards) node.Node { return b.create("redfish") },
		"maintenance": func(b *boards) node.Node {
			n := b.managed()
			if err := b.e.SetMaintenance(b.ctx, n.UUID, true, "new fans"); err != nil {
				b.t.Fatal(err)
			}
			return n
		},
		"a run under way": func(b *boards) node.Node {
			n := b.managed()
			if err := b.e.Provision(b.ctx, n.UUID, plan.Request{Verb: node.Provide}); err != nil {
				b.t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			b.world.mu.Lock()
			b.of(n.UUID).boot++ // it hangs: clean wait until the deadline
			b.world.mu.Unlock()
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBoards(t)
				b.settings.BootRetries = 0
				b.start()
				defer b.close()
				n := arrange(b)
				time.Sleep(time.Second)
				before := b.readings(n.UUID)
				b.push(n.UUID, node.PowerOn)
				time.Sleep(20 * time.Minute)
				if k := b.readings(n.UUID) - before; k != 0 {
					t.Errorf("read %d times, the node is %q", k, b.node(n.UUID).ProvisionState)
				}
			})
		})
	}
}

// A reserved node is not written, and a reading that began before a change of
// power does not undo it.
func TestReadingIsOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.settings.ForcePowerState = true
		b.start()
		defer b.close()
		n := b.managed()
		b.push(n.UUID, node.PowerOn)
		for b.readings(n.UUID) == 0 { // the first of the two that would force it off
			time.Sleep(100 * time.Millisecond)
		}
		b.set(func() { b.slow = 8 * time.Second })
		for b.readings(n.UUID) == 1 {
			time.Sleep(100 * time.Millisecond)
		}
		if err := b.e.SetPower(b.ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		if n := b.node(n.UUID); n.TargetPowerState != node.PowerOn {
			t.Errorf("target_power_state is %q while power on is under way", n.TargetPowerState)
		}
		time.Sleep(10 * time.Minute)
		n = b.node(n.UUID)
		if n.PowerState != node.PowerOn || slices.Contains(b.pressed(), node.PowerOff) || len(b.monitored(n.UUID)) > 0 {
			t.Errorf("recorded %q, asked for %v, history %v", n.PowerState, b.pressed(), b.monitored(n.UUID))
		}
	})
}

// A node that is deleted while it is being read leaves nothing behind.
func TestDeletedWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		b.push(n.UUID, node.PowerOn)
		b.set(func() { b.slow = 5 * time.Second })
		for b.readings(n.UUID) < 2 { // the next result would be written
			time.Sleep(100 * time.Millisecond)
		}
		if err := b.e.DeleteNode(b.ctx, n.UUID); err != nil {
			t.Fatal(err)
		}
		b.wrote(1, "deleting the node")
		time.Sleep(10 * time.Minute)
		b.wrote(0, "after the node was deleted")
		if k := b.readings(n.UUID); k != 2 {
			t.Errorf("read %d times, want twice", k)
		}
	})
}

// TestPowerSyncAfterARestart: nodes in maintenance at the end of the conductor are found again at the next start;
// counts begin afresh.
func TestPowerSyncAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		lost, well := b.managed(), b.managed()
		b.set(func() { b.silent = always })
		time.Sleep(5 * time.Minute) // three readings have failed
		b.end()
		b.start()
		time.Sleep(2 * time.Minute)
		if n := b.node(lost.UUID); n.Maintenance {
			t.Errorf("two readings after the start: %s", n.MaintenanceReason)
		}
		time.Sleep(10 * time.Minute)
		if n := b.node(lost.UUID); n.Fault != plan.PowerFailure {
			t.Errorf("the fault is %q", n.Fault)
		}
		b.crash()
		b.set(func() { b.silent = nil })
		b.start()
		defer b.close()
		time.Sleep(5*time.Minute + time.Second)
		for _, id := range []string{lost.UUID, well.UUID} {
			if n := b.node(id); n.Maintenance {
				t.Errorf("node %s is still in maintenance: %s", id, n.MaintenanceReason)
			}
			if s, err := b.e.Status(b.ctx, id); err != nil || time.Since(s.PowerReadAt) > time.Minute {
				t.Errorf("the last good reading was at %s (%v), it is %s", s.PowerReadAt, err, time.Now())
			}
		}
	})
}

// Maintenance that an operator asks for outlives the power failure before it.
func TestMaintenanceOfAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		b.set(func() { b.silent = always })
		time.Sleep(15 * time.Minute)
		if n := b.node(n.UUID); n.Fault != plan.PowerFailure {
			t.Fatalf("fault %q", n.Fault)
		}
		if err := b.e.SetMaintenance(b.ctx, n.UUID, true, "new fans"); err != nil {
			t.Fatal(err)
		}
		b.set(func() { b.silent = nil })
		time.Sleep(time.Hour)
		if n := b.node(n.UUID); !n.Maintenance || n.MaintenanceReason != "new fans" || n.Fault != "" {
			t.Errorf("maintenance %v %q, fault %q", n.Maintenance, n.MaintenanceReason, n.Fault)
		}
	})
}

// A driver that panics has not answered.
func TestPanicWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoards(t)
		b.start()
		defer b.close()
		n := b.managed()
		b.set(func() { b.silent = func(int) bool { panic("index out of range") } })
		time.Sleep(15 * time.Minute)
		if n := b.node(n.UUID); n.Fault != plan.PowerFailure || !strings.Contains(n.MaintenanceReason, "index out of range") {
			t.Errorf("fault %q: %s", n.Fault, n.MaintenanceReason)
		}
	})
}
