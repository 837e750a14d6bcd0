package engine_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

var (
	simSeed  = flag.Uint64("sim.seed", 1, "the first seed of the simulation")
	simLives = flag.Int("sim.lives", 12, "how many seeds the simulation tries")
)

// TestSimulation lets a random operator loose on a few nodes. Calls are lost or come twice. Agents and BMCs fall silent
// for minutes or work on a step for ever. The conductor is killed, or frozen and thawed beside its successor, and the
// clock jumps. In all cases every node comes to rest with a reason. No image is written onto a disk that was not
// cleaned since the last tenant, and the ledger has no complaint. A failing seed is printed:
//
//	go test ./conductor/engine -run Simulation -sim.seed N -sim.lives 1
func TestSimulation(t *testing.T) {
	simulateAll(t, *simLives, func(t *testing.T, seed uint64) *enginetest.World { return enginetest.New(t, seed) })
}

// simulateAll tries so many seeds, each in a world of its own.
func simulateAll(t *testing.T, lives int, world func(t *testing.T, seed uint64) *enginetest.World) {
	t.Helper()
	var most enginetest.Maxima
	var lived time.Duration
	for seed := *simSeed; seed < *simSeed+uint64(lives); seed++ {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			born := time.Now()
			most = most.With(simulate(world(t, seed), seed))
			lived += time.Since(born)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds from %d, %.0f hours: at most %d tries of an effect, %d effects of a run, %s in one state, not "+
		"counting what clocks were set back",
		lives, *simSeed, lived.Hours(), most.Tries, most.Effects, most.Lasted)
}

func simulate(w *enginetest.World, seed uint64) enginetest.Maxima {
	t := w.T
	w.Settings.FastTrack, w.Settings.FastTrackAny = seed%2 == 0, seed%4 == 0
	w.Settings.Kexec = seed%3 == 0
	w.Settings.StepTimeout, w.Settings.StepLimit = 20*time.Minute, 35*time.Minute // less than longestWait
	w.Hangs, w.Creep = 0.15, 0.5
	w.Drive = func(core.BMC) core.BMC { return enginetest.Obliging{World: w} }
	w.Logs = &enginetest.Shelf{}
	w.Start()
	var ids []string
	for range 3 {
		n := w.Create("redfish")
		_, err := w.E.UpdateNode(w.Ctx, n.UUID, func(n *node.Node) error { n.Interfaces["rescue"] = "agent"; return nil })
		w.Allow(err)
		ids = append(ids, n.UUID)
	}
	w.Trouble = []float64{0.02, 0.1, 0.3}[seed%3]
	for range 60 {
		operate(w, ids[w.Pick(len(ids))])
		time.Sleep(time.Duration(w.Pick(30)) * time.Second)
		switch w.Pick(20) {
		case 0, 1:
			w.Crash()
			time.Sleep(time.Duration(w.Pick(60)) * time.Second)
			w.Start()
		case 2: // taken for dead, and back
			thaw := w.Freeze()
			time.Sleep(time.Duration(w.Pick(60)) * time.Second)
			w.Start()
			time.Sleep(time.Duration(w.Pick(300))*time.Millisecond + time.Duration(w.Pick(2)*w.Pick(60))*time.Second)
			thaw()
		case 3: // the clock is set
			by := time.Duration(w.Pick(7200)-3600) * time.Second
			w.Skew.Add(int64(by))
			w.Ledger.Disturb(by)
		case 4: // a BMC falls silent, or answers again
			w.Turn(w.Lost, ids[w.Pick(len(ids))])
		case 5: // the same of a ramdisk
			w.Turn(w.Mute, ids[w.Pick(len(ids))])
		}
		for _, id := range ids {
			n, err := w.Store.Node(w.Ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			w.Ledger.Overdue(n)
		}
	}
	w.Mu.Lock()
	w.Trouble = 0
	clear(w.Lost)
	clear(w.Mute)
	w.Mu.Unlock()
	for _, id := range ids {
		n := w.Settled(id)
		if n.ProvisionState.Class() == node.Failed && n.LastError == "" {
			t.Errorf("node %s is %q without a reason", id, n.ProvisionState)
		}
		if n.Run != nil || !n.Deadline.IsZero() && !enginetest.KeepsAgent[n.ProvisionState] || n.Chore != "" {
			t.Errorf("node %s rests in %q with run %+v, chore %q, deadline %s", id, n.ProvisionState, n.Run, n.Chore, n.Deadline)
		}
	}
	w.Ledger.Balance()
	w.Close()
	return w.Ledger.Most
}

// operate asks one node for something its state allows.
func operate(w *enginetest.World, id string) {
	n, err := w.E.Node(w.Ctx, id)
	if err != nil {
		w.T.Fatal(err)
	}
	verbs := []node.Event{
		node.Manage, node.Provide, node.Inspect, node.Deploy, node.Rebuild, node.Delete, node.Abort,
		node.Clean, node.Service, node.RescueIt, node.Unrescue, node.Unhold,
	}
	verb := verbs[w.Pick(len(verbs))]
	if verb == node.Abort && w.Pick(4) > 0 {
		return
	}
	if n.Maintenance {
		w.Allow(w.E.SetMaintenance(w.Ctx, id, false, ""))
	}
	if (verb == node.Deploy || verb == node.Rebuild) && len(n.InstanceInfo) == 0 {
		_, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
			n.InstanceInfo = enginetest.Instance(w.Pick(1_000_000))
			return nil
		})
		w.Allow(err)
	}
	q := plan.Request{Verb: verb}
	if verb == node.Clean {
		q.CleanSteps = anySteps(w, "erase_devices_metadata")
	}
	if verb == node.Service {
		q.ServiceSteps = anySteps(w, "burnin_cpu")
	}
	if verb == node.RescueIt {
		q.RescuePassword = "x"
	}
	w.Allow(w.E.Provision(w.Ctx, id, q))
	if ask := chores(w, id); w.Pick(4) == 0 {
		w.Allow(ask[w.Pick(len(ask))]())
	}
}

// chores are an operator's requests to one node's BMC outside of runs.
func chores(w *enginetest.World, id string) []func() error {
	odd := w.Pick(2) == 1
	return []func() error{
		func() error { return w.E.SetPower(w.Ctx, id, node.PowerOn, 0) },
		func() error {
			w.Allow(w.E.SetPower(w.Ctx, id, node.SoftPowerOff, 0))
			time.Sleep(time.Duration(w.Pick(20)) * time.Second)
			return w.E.TryPower(w.Ctx, id, node.PowerOff)
		},
		func() error {
			return w.E.AttachMedium(w.Ctx, id, node.Medium{Device: "cdrom", Image: "http://images/a.iso"})
		},
		func() error { return w.E.DetachMedia(w.Ctx, id, nil) },
		func() error { return w.E.ChangeBootMode(w.Ctx, id, map[bool]string{true: "bios", false: "uefi"}[odd]) },
		func() error { return w.E.ChangeSecureBoot(w.Ctx, id, odd) },
		func() error { return w.E.SetConsole(w.Ctx, id, odd) },
		func() error {
			_, _, err := w.E.CallVendor(w.Ctx, id, "POST", "slow", nil)
			return err
		},
	}
}

// anySteps lists a few steps of all sides, inBand among them.
func anySteps(w *enginetest.World, inBand string) []node.Step {
	all := []node.Step{
		{Interface: "deploy", Step: inBand}, {Interface: "deploy", Step: "hold"}, {Interface: "power", Step: "reboot"},
		{Interface: "deploy", Step: "wait"}, {Interface: "deploy", Step: "wait", Args: map[string]any{"seconds": 20.0}},
		{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": w.Pick(3)}},
		{Interface: "firmware", Step: "update"}, {Interface: "deploy", Step: "nobody"},
	}
	var steps []node.Step
	for range 1 + w.Pick(4) {
		steps = append(steps, all[w.Pick(len(all))])
	}
	return steps
}
