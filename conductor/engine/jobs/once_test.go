package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// vague is a BMC that reads badly for a while after each button, or for ever if configured so.
type vague struct {
	*enginetest.Able
	say   func() (node.Vitals, error) // instead of the power state; nil for the true state
	after int                         // readings that are bad after a button, at most
	bad   int                         // of them are left
}

func newVague(t *testing.T) *vague {
	v := &vague{Able: enginetest.NewAble(t)}
	v.Drive = func(core.BMC) core.BMC { return v }
	return v
}

// badly reports whether a reading is a bad one.
func (v *vague) badly() (say func() (node.Vitals, error)) {
	v.Mu.Lock()
	defer v.Mu.Unlock()
	if v.bad == 0 {
		return nil
	}
	v.bad--
	return v.say
}

func (v *vague) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	err := v.Able.SetPower(ctx, n, target)
	v.Set(func() { v.bad = v.after })
	return err
}

func (v *vague) Vitals(ctx context.Context, n node.Node) (node.Vitals, error) {
	if say := v.badly(); say != nil {
		return say()
	}
	p, err := v.PowerState(ctx, n)
	return node.Vitals{Power: p}, err
}

func (v *vague) BootMode(ctx context.Context, n node.Node) (string, error) {
	if say := v.badly(); say != nil {
		_, err := say()
		return "uefi", err
	}
	return v.Able.BootMode(ctx, n)
}

func (v *vague) SecureBoot(ctx context.Context, n node.Node) (*bool, error) {
	if say := v.badly(); say != nil {
		off := false
		_, err := say()
		return &off, err
	}
	return v.Able.SecureBoot(ctx, n)
}

// SetBootMode and SetSecureBoot are actions, too, after which reading fails.
func (v *vague) SetBootMode(ctx context.Context, n node.Node, mode string) error {
	v.Set(func() { v.bad, v.Sets = v.after, append(v.Sets, "boot mode") })
	return v.Able.SetBootMode(ctx, n, mode)
}

func (v *vague) SetSecureBoot(ctx context.Context, n node.Node, on bool) error {
	v.Set(func() { v.bad, v.Sets = v.after, append(v.Sets, "secure boot") })
	return v.Able.SetSecureBoot(ctx, n, on)
}

// accepted is how many actions of a pending effect were accepted, as the store has it.
func (v *vague) accepted(uuid string) int {
	ef, err := v.Store.PendingEffect(v.Ctx, uuid)
	v.Must(err)
	if ef == nil {
		return 0
	}
	return len(ef.Accepted)
}

// badReadings are ways in which a BMC says nothing.
var badReadings = map[string]func() (node.Vitals, error){
	"null":    func() (node.Vitals, error) { return node.Vitals{}, nil },
	"Reset":   func() (node.Vitals, error) { return node.Vitals{Said: "Reset"}, nil },
	"error":   func() (node.Vitals, error) { return node.Vitals{}, enginetest.ErrSilent },
	"refusal": func() (node.Vitals, error) { return node.Vitals{}, node.Refuse(node.Invalid, "not allowed") },
}

// TestActOnce: an effect that acts and then reads acts only once. This holds for any first five readings after an
// accepted action, and if the conductor is killed as soon as the action was accepted.
func TestActOnce(t *testing.T) {
	request := func(p node.PowerState) func(v *vague, id string) error {
		return func(v *vague, id string) error { return v.E.SetPower(v.Ctx, id, p, 0) }
	}
	const on, off, reboot = node.PowerOn, node.PowerOff, node.Rebooting
	for action, tc := range map[string]struct {
		from node.PowerState
		late time.Duration // of firmware, after a start
		ask  func(v *vague, id string) error
		want []node.PowerState
	}{
		"power on":       {from: off, ask: request(on), want: []node.PowerState{on}},
		"power off":      {from: on, ask: request(off), want: []node.PowerState{off}},
		"soft power off": {from: on, ask: request(node.SoftPowerOff), want: []node.PowerState{node.SoftPowerOff}},
		"reboot":         {from: on, ask: request(reboot), want: []node.PowerState{reboot}},
		"soft reboot":    {from: on, ask: request(node.SoftRebooting), want: []node.PowerState{node.SoftRebooting}},
		"boot mode": {from: off, late: time.Minute, want: []node.PowerState{"boot mode", reboot, off},
			ask: func(v *vague, id string) error { return v.E.ChangeBootMode(v.Ctx, id, "bios") }},
		"secure boot": {from: on, late: time.Minute, want: []node.PowerState{"secure boot", reboot},
			ask: func(v *vague, id string) error { return v.E.ChangeSecureBoot(v.Ctx, id, true) }},
		"steps of a run": {from: off, want: []node.PowerState{on, reboot, off}, ask: func(v *vague, id string) error {
			steps := []node.Step{{Interface: "power", Step: "power_on"}, {Interface: "power", Step: "reboot"},
				{Interface: "power", Step: "power_off"}}
			return v.E.Provision(v.Ctx, id, plan.Request{Verb: node.Clean, CleanSteps: steps, DisableRamdisk: true})
		}},
	} {
		for name, say := range badReadings {
			for killed := range 3 { // so many actions have been accepted then; 0: never
				if _, err := say(); killed == 2 && tc.late == 0 || killed == 1 && tc.late > 0 && err == nil {
					continue // there is no second action; the first is read at once, and the second begun
				}
				t.Run(fmt.Sprintf("%s, %s, killed after %d", action, name, killed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						v := newVague(t)
						v.Late, v.say, v.after = tc.late, say, 5
						v.Start()
						defer v.Close()
						n := v.Create("redfish")
						v.Push(n.UUID, tc.from)
						v.Ask(n.UUID, node.Manage, node.Manageable)
						if err := tc.ask(v, n.UUID); err != nil {
							t.Fatal(err)
						}
						if killed > 0 {
							for v.accepted(n.UUID) < killed {
								time.Sleep(10 * time.Millisecond)
							}
							v.Crash()
							v.Start()
						}
						if n = v.Settled(n.UUID); n.LastError != "" || n.ProvisionState != node.Manageable {
							t.Errorf("%s, last error %q", n.ProvisionState, n.LastError)
						}
						if diff := cmp.Diff(tc.want, v.Pressed()); diff != "" {
							t.Errorf("actions (-want +got):\n%s", diff)
						}
					})
				})
			}
		}
	}
}

// TestRequestEndsByLimit: a power request with failing readings ends by its limit, also if its button was pressed. Its
// status describes the fault meanwhile. Nothing is done to the machine afterwards, and the node obeys its operator all
// the time.
func TestRequestEndsByLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		say    func() (node.Vitals, error)
		target node.PowerState
		bad    bool // from the beginning, or after the button
		want   []node.PowerState
		says   []string // last_error
		try    string
	}{
		"off, never read": {say: badReadings["error"], target: node.PowerOff, bad: true, try: "ferrite node power off ",
			says: []string{"of 1m0s", "nothing was done to the machine", enginetest.ErrSilent.Error()}},
		"off, not read after it": {say: badReadings["error"], target: node.PowerOff, try: "ferrite node power off ",
			want: []node.PowerState{node.PowerOff},
			says: []string{"of 1m0s", "the BMC accepted it at", enginetest.ErrSilent.Error()}},
		"reboot, no state after it": {say: badReadings["Reset"], target: node.Rebooting, try: "ferrite node power reboot ",
			want: []node.PowerState{node.Rebooting}, says: []string{"the BMC accepted it at", `power state "Reset"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVague(t)
				v.say, v.after = tc.say, 1_000_000
				v.Start()
				defer v.Close()
				n := v.Create("redfish")
				v.Push(n.UUID, node.PowerOn)
				v.Ask(n.UUID, node.Manage, node.Manageable)
				if tc.bad {
					v.Set(func() { v.bad = v.after })
				}
				began := time.Now()
				v.Must(v.E.SetPower(v.Ctx, n.UUID, tc.target, 0))
				time.Sleep(30 * time.Second)
				st, err := v.E.Status(v.Ctx, n.UUID)
				if said := tc.says[len(tc.says)-1]; err != nil || !strings.Contains(st.WaitingFor, said) ||
					!strings.HasPrefix(st.Try, "nothing: it succeeds or fails by its limit") {
					t.Errorf("%v: it waits for %q, try %q", err, st.WaitingFor, st.Try)
				}
				var locked *node.Refusal
				if err := v.E.SetPower(v.Ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &locked) || locked.Kind != node.Locked {
					t.Errorf("a second request: %v", err)
				}
				v.Must(v.E.SetMaintenance(v.Ctx, n.UUID, true, "its BMC"))
				v.Must(v.E.SetMaintenance(v.Ctx, n.UUID, false, ""))
				n = v.Settled(n.UUID)
				if took := time.Since(began); took > 61*time.Second || took < 58*time.Second {
					t.Errorf("took %s", took)
				}
				for _, says := range tc.says {
					if !strings.Contains(n.LastError, says) || !plan.PowerChangeFailed(n) {
						t.Errorf("last error %q, expected %q in it", n.LastError, says)
					}
				}
				if st, err = v.E.Status(v.Ctx, n.UUID); err != nil || !strings.Contains(st.Try, tc.try) {
					t.Errorf("%v: try %q", err, st.Try)
				}
				v.Set(func() { v.bad = 0 })
				time.Sleep(time.Hour)
				if diff := cmp.Diff(tc.want, v.Pressed()); diff != "" {
					t.Errorf("actions (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestPowerComesLate: a machine that obeys after minutes, or never, fails the request at its limit with words for the
// cause, and the record follows the machine once it has obeyed.
func TestPowerComesLate(t *testing.T) {
	for target, hint := range map[node.PowerState]string{
		node.PowerOff:     "raise --power-timeout or driver_info power_timeout",
		node.SoftPowerOff: "power off cuts the power",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := enginetest.NewBoards(t)
			b.Start()
			defer b.Close()
			n := b.Create("redfish")
			b.Push(n.UUID, node.PowerOn)
			b.Ask(n.UUID, node.Manage, node.Manageable)
			b.Set(func() { b.Deaf = true })
			b.Must(b.E.SetPower(b.Ctx, n.UUID, target, 0))
			if n = b.Settled(n.UUID); !strings.Contains(n.LastError, hint) || n.PowerState != node.PowerOn {
				t.Errorf("%s: %q, last error %q", target, n.PowerState, n.LastError)
			}
			b.Push(n.UUID, node.PowerOff)
			time.Sleep(5 * time.Minute)
			if n = b.Node(n.UUID); n.PowerState != node.PowerOff {
				t.Errorf("%s: the record is %q when the machine is off at last", target, n.PowerState)
			}
		})
	}
}

// TestPowersOnForLong: a machine that says for longer than the limit that it powers on counts as on, as in Ironic.
func TestPowersOnForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVague(t)
		v.say = func() (node.Vitals, error) { return node.Vitals{Said: "PoweringOn", Becomes: node.PowerOn}, nil }
		v.after = 1_000_000
		v.Start()
		defer v.Close()
		n := v.Ask(v.Create("redfish").UUID, node.Manage, node.Manageable)
		v.Must(v.E.SetPower(v.Ctx, n.UUID, node.PowerOn, 0))
		if n = v.Settled(n.UUID); n.LastError != "" || n.PowerState != node.PowerOn {
			t.Errorf("%q, last error %q", n.PowerState, n.LastError)
		}
	})
}

// TestSyncDuringChore: the power sync reads on while a power change is under way, and changes nothing.
func TestSyncDuringChore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.NewBoards(t)
		b.Start()
		defer b.Close()
		n := b.Managed()
		b.Push(n.UUID, node.PowerOn)
		time.Sleep(5 * time.Minute)
		b.Set(func() { b.Awake = true })
		b.Must(b.E.SetPower(b.Ctx, n.UUID, node.SoftPowerOff, 30*time.Minute))
		time.Sleep(time.Minute)
		b.Wrote(b.Commits.Load(), "so far")
		b.Set(func() { b.Silent = func(int) bool { return true } })
		time.Sleep(10 * time.Minute)
		if n := b.Node(n.UUID); n.Maintenance || n.Chore == "" {
			t.Errorf("maintenance %v, chore %q", n.Maintenance, n.Chore)
		}
		b.Wrote(0, "while it is under way")
		b.Settled(n.UUID)
		time.Sleep(10 * time.Minute)
		if n := b.Node(n.UUID); !n.Maintenance || !strings.Contains(n.MaintenanceReason, "no answer of the BMC") {
			t.Errorf("maintenance %v: %q", n.Maintenance, n.MaintenanceReason)
		}
	})
}

// TestAbortAmidPowerChange: an activity that waits is aborted at once, during any request to its machine's BMC.
func TestAbortAmidPowerChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVague(t)
		v.say, v.after = badReadings["error"], 1_000_000
		v.Start()
		defer v.Close()
		n := v.Ask(v.Create("redfish").UUID, node.Manage, node.Manageable)
		v.Set(func() { v.after = 0 })
		v.Must(v.E.Provision(v.Ctx, n.UUID, plan.Request{Verb: node.Inspect}))
		for v.Node(n.UUID).ProvisionState != node.InspectWait {
			time.Sleep(time.Second)
		}
		v.Set(func() { v.bad = 1_000_000 })
		v.Must(v.E.SetPower(v.Ctx, n.UUID, node.PowerOff, 0))
		time.Sleep(20 * time.Second)
		v.Must(v.E.Provision(v.Ctx, n.UUID, plan.Request{Verb: node.Abort}))
		if n = v.Node(n.UUID); n.ProvisionState != node.InspectFailed || n.Chore == "" {
			t.Errorf("after the abort it is %s, chore %q", n.ProvisionState, n.Chore)
		}
		time.Sleep(time.Minute)
		if n = v.Node(n.UUID); n.Chore != "" || n.Run != nil || !plan.PowerChangeFailed(n) {
			t.Errorf("chore %q, run %+v, last error %q", n.Chore, n.Run, n.LastError)
		}
	})
}

// TestReturnToTenantOnce: a machine that was started in its owner's network is not switched off again because its BMC
// is silent for a while after it.
func TestReturnToTenantOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, n, _ := networked(t, "neutron")
		defer w.Close()
		reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.Available)
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
		reach(w, n.UUID, plan.Request{Verb: node.Deploy}, node.Active)
		w.Must(w.E.Provision(w.Ctx, n.UUID, enginetest.Servicing("burnin_cpu", "hold")))
		for n.ProvisionState != node.ServiceHold {
			time.Sleep(time.Second)
			n, _ = w.E.Node(w.Ctx, n.UUID)
		}
		reach(w, n.UUID, plan.Request{Verb: node.Abort}, node.ServiceFailed)
		var pressed []node.PowerState
		w.Mu.Lock()
		w.Pressed = func(to node.PowerState) { // called with w.mu held
			pressed = append(pressed, to)
			if to == node.PowerOn { // for longer than one attempt lasts
				w.Lost[n.UUID] = true
				time.AfterFunc(62*time.Second, func() { w.Turn(w.Lost, n.UUID) })
			}
		}
		w.Mu.Unlock()
		w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Abort}))
		n = w.Settled(n.UUID)
		if diff := cmp.Diff([]node.PowerState{node.PowerOff, node.PowerOn}, pressed); diff != "" || n.LastError != "" {
			t.Errorf("last error %q, buttons (-want +got):\n%s", n.LastError, diff)
		}
	})
}
