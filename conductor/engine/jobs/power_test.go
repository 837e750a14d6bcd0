package jobs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// A request for power that fails leaves the power state as it is, sets no
// maintenance, and says why.
func TestPowerRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		deaf, keepOn bool
		from, target node.PowerState
		timeout      time.Duration
		refused      bool
		took         time.Duration // at least
		waits        string        // the text of the wait, if it has to wait
		power        node.PowerState
		fails        bool
	}{
		"off":      {from: node.PowerOn, target: node.PowerOff, power: node.PowerOff},
		"soft off": {from: node.PowerOn, target: node.SoftPowerOff, power: node.PowerOff},
		"soft off, deaf": {from: node.PowerOn, target: node.SoftPowerOff, deaf: true, took: 10 * time.Minute,
			waits: "the operating system to shut down, which may take 10m0s", power: node.PowerOn, fails: true},
		"soft off, deaf, with patience": {from: node.PowerOn, target: node.SoftPowerOff, deaf: true, timeout: time.Hour,
			took: time.Hour, waits: "the operating system to shut down, which may take 1h0m0s", power: node.PowerOn,
			fails: true},
		"off, deaf": {from: node.PowerOn, target: node.PowerOff, deaf: true, took: time.Minute,
			waits: "power.request to be done", power: node.PowerOn, fails: true},
		"reboot":                       {from: node.PowerOn, target: node.Rebooting, power: node.PowerOn},
		"soft reboot":                  {from: node.PowerOn, target: node.SoftRebooting, power: node.PowerOn},
		"reboot of a machine to be on": {from: node.PowerOn, target: node.Rebooting, keepOn: true, power: node.PowerOn},
		"soft reboot of one":           {from: node.PowerOn, target: node.SoftRebooting, keepOn: true, power: node.PowerOn},
		"off, of one": {from: node.PowerOn, target: node.PowerOff, keepOn: true, refused: true,
			power: node.PowerOn},
		"soft off, of one": {from: node.PowerOn, target: node.SoftPowerOff, keepOn: true, refused: true,
			power: node.PowerOn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.NewBoards(t)
				b.Start()
				defer b.Close()
				n := b.Create("redfish")
				b.Push(n.UUID, tc.from)
				n = b.Ask(n.UUID, node.Manage, node.Manageable)
				if _, err := b.E.UpdateNode(b.Ctx, n.UUID, func(n *node.Node) error {
					n.DisablePowerOff = tc.keepOn
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				b.Set(func() { b.Deaf = tc.deaf })
				began := time.Now()
				err := b.E.SetPower(b.Ctx, n.UUID, tc.target, tc.timeout)
				var refusal *node.Refusal
				if tc.refused != errors.As(err, &refusal) || !tc.refused && err != nil {
					t.Fatalf("answered %v", err)
				}
				if want := plan.PowerAfter(tc.target); !tc.refused && b.Node(n.UUID).TargetPowerState != want {
					t.Errorf("target_power_state is %q while under way, want %q", b.Node(n.UUID).TargetPowerState, want)
				}
				st, err := b.E.Status(b.Ctx, n.UUID) // it may already show that the request was accepted
				if err != nil || tc.deaf && !strings.HasPrefix(st.WaitingFor, tc.waits) {
					t.Errorf("it waits for %q, %v, want %q", st.WaitingFor, err, tc.waits)
				}
				n = b.Settled(n.UUID)
				if took := time.Since(began); took < tc.took || took > tc.took+time.Minute {
					t.Errorf("took %s, want %s", took, tc.took)
				}
				if n.PowerState != tc.power || n.TargetPowerState != "" || n.Maintenance || (n.LastError != "") != tc.fails {
					t.Errorf("power %q (want %q), target %q, maintenance %v, last error %q", n.PowerState, tc.power,
						n.TargetPowerState, n.Maintenance, n.LastError)
				}
			})
		})
	}
}

// TestTries: for an operator's request, a silent BMC is called until the limit. For a caller that makes its own tries
// it is called once.
func TestTries(t *testing.T) {
	for name, tc := range map[string]struct {
		ask         func(*engine.Engine, context.Context, string) error
		least, most int // readings
	}{
		"request": {func(e *engine.Engine, ctx context.Context, id string) error {
			return e.SetPower(ctx, id, node.PowerOff, 0)
		}, 8, 12},
		"try": {func(e *engine.Engine, ctx context.Context, id string) error {
			return e.TryPower(ctx, id, node.PowerOff)
		}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.NewBoards(t)
				b.Start()
				defer b.Close()
				n := b.Create("redfish")
				b.Push(n.UUID, node.PowerOn)
				b.Ask(n.UUID, node.Manage, node.Manageable)
				b.Set(func() { b.Silent = func(int) bool { return true } })
				before := b.Readings(n.UUID)
				if err := tc.ask(b.E, b.Ctx, n.UUID); err != nil {
					t.Fatal(err)
				}
				n = b.Settled(n.UUID)
				if asked := b.Readings(n.UUID) - before; asked < tc.least || asked > tc.most || !plan.PowerChangeFailed(n) ||
					n.PowerState != node.PowerOn {
					t.Errorf("asked %d times, want %d to %d; %q, and %q", asked, tc.least, tc.most, n.PowerState, n.LastError)
				}
			})
		})
	}
}

// Machines that take their time to shut down keep no other effect waiting.
func TestWaitingForPowerTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		var slow []string
		for range 100 { // more than there are slots
			m := b.Create("redfish")
			b.Push(m.UUID, node.PowerOn)
			slow = append(slow, b.Ask(m.UUID, node.Manage, node.Manageable).UUID)
		}
		b.Set(func() { b.Deaf = true })
		for _, id := range slow {
			if err := b.E.SetPower(b.Ctx, id, node.SoftPowerOff, 0); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		b.Set(func() { b.Deaf = false })
		if err := b.E.SetPower(b.Ctx, n.UUID, node.PowerOn, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if n := b.Node(n.UUID); n.PowerState != node.PowerOn {
			t.Errorf("the machine is %q while %d others shut down", n.PowerState, len(slow))
		}
	})
}

// TestOvertakenShutdown: if an operating system does not shut down, an impatient caller can switch the machine off at
// once. The overtaken request reports nothing afterwards; any other request must wait.
func TestOvertakenShutdown(t *testing.T) {
	for name, silent := range map[string]bool{"answers": false, "silent": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := enginetest.NewBoards(t)
				b.Start()
				defer b.Close()
				n := b.Create("redfish")
				b.Push(n.UUID, node.PowerOn)
				b.Ask(n.UUID, node.Manage, node.Manageable)
				b.Set(func() { b.Awake = true })
				if err := b.E.SetPower(b.Ctx, n.UUID, node.SoftPowerOff, 3*time.Minute); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				var refusal *node.Refusal
				if err := b.E.SetPower(b.Ctx, n.UUID, node.PowerOff, 0); !errors.As(err, &refusal) || refusal.Kind != node.Locked {
					t.Fatalf("the node is not reserved: %v", err)
				}
				b.Set(func() { b.Silent = func(int) bool { return silent } })
				began := time.Now()
				if err := b.E.TryPower(b.Ctx, n.UUID, node.PowerOff); err != nil {
					t.Fatal(err)
				}
				n = b.Settled(n.UUID)
				if took := time.Since(began); took > time.Second || plan.PowerChangeFailed(n) != silent {
					t.Errorf("took %s, last error %q", took, n.LastError)
				}
				time.Sleep(10 * time.Minute)
				if n = b.Node(n.UUID); (n.PowerState == node.PowerOn) != silent || n.Chore != "" || n.TargetPowerState != "" {
					t.Errorf("the machine is %q, chore %q, on its way to %q", n.PowerState, n.Chore, n.TargetPowerState)
				}
			})
		})
	}
}

// TestReasonOutlivesPower: the reason of a failure survives an operator's power changes.
func TestReasonOutlivesPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		n := w.Waiting()
		defer w.Close()
		if err := w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		before := w.Settled(n.UUID)
		if err := w.E.SetPower(w.Ctx, n.UUID, node.PowerOff, 0); err != nil {
			t.Fatal(err)
		}
		if after := w.Settled(n.UUID); after.PowerState != node.PowerOff || after.LastError != before.LastError ||
			after.LastError == "" {
			t.Errorf("%q became %q (power %q)", before.LastError, after.LastError, after.PowerState)
		}
	})
}
