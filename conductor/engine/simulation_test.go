package engine_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
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
	simulateAll(t, *simLives, func(t *testing.T, seed uint64) *world { return newWorld(t, seed) })
}

// simulateAll tries so many seeds, each in a world of its own.
func simulateAll(t *testing.T, lives int, world func(t *testing.T, seed uint64) *world) {
	t.Helper()
	var most maxima
	var lived time.Duration
	for seed := *simSeed; seed < *simSeed+uint64(lives); seed++ {
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			born := time.Now()
			most = most.with(simulate(world(t, seed), seed))
			lived += time.Since(born)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds from %d, %.0f hours: at most %d tries of an effect, %d effects of a run, %s in one state, not "+
		"counting what clocks were set back",
		lives, *simSeed, lived.Hours(), most.tries, most.effects, most.lasted)
}

func simulate(w *world, seed uint64) maxima {
	t := w.t
	w.settings.FastTrack, w.settings.FastTrackAny = seed%2 == 0, seed%4 == 0
	w.settings.Kexec = seed%3 == 0
	w.settings.StepTimeout, w.settings.StepLimit = 20*time.Minute, 35*time.Minute // less than longestWait
	w.hangs, w.creep = 0.15, 0.5
	w.drive = func(core.BMC) core.BMC { return obliging{w} }
	w.logs = &shelf{}
	w.start()
	var ids []string
	for range 3 {
		n := w.create("redfish")
		_, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error { n.Interfaces["rescue"] = "agent"; return nil })
		w.allow(err)
		ids = append(ids, n.UUID)
	}
	w.trouble = []float64{0.02, 0.1, 0.3}[seed%3]
	for range 60 {
		w.operate(ids[w.pick(len(ids))])
		time.Sleep(time.Duration(w.pick(30)) * time.Second)
		switch w.pick(20) {
		case 0, 1:
			w.crash()
			time.Sleep(time.Duration(w.pick(60)) * time.Second)
			w.start()
		case 2: // taken for dead, and back
			thaw := w.freeze()
			time.Sleep(time.Duration(w.pick(60)) * time.Second)
			w.start()
			time.Sleep(time.Duration(w.pick(300))*time.Millisecond + time.Duration(w.pick(2)*w.pick(60))*time.Second)
			thaw()
		case 3: // the clock is set
			by := time.Duration(w.pick(7200)-3600) * time.Second
			w.skew.Add(int64(by))
			w.ledger.disturb(by)
		case 4: // a BMC falls silent, or answers again
			w.turn(w.lost, ids[w.pick(len(ids))])
		case 5: // the same of a ramdisk
			w.turn(w.mute, ids[w.pick(len(ids))])
		}
		for _, id := range ids {
			n, err := w.store.Node(w.ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			w.ledger.overdue(n)
		}
	}
	w.mu.Lock()
	w.trouble = 0
	clear(w.lost)
	clear(w.mute)
	w.mu.Unlock()
	for _, id := range ids {
		n := w.settled(id)
		if n.ProvisionState.Class() == node.Failed && n.LastError == "" {
			t.Errorf("node %s is %q without a reason", id, n.ProvisionState)
		}
		if n.Run != nil || !n.Deadline.IsZero() && !keepsAgent[n.ProvisionState] || n.Chore != "" {
			t.Errorf("node %s rests in %q with run %+v, chore %q, deadline %s", id, n.ProvisionState, n.Run, n.Chore, n.Deadline)
		}
	}
	w.ledger.balance()
	w.close()
	return w.ledger.most
}

// operate asks one node for something its state allows.
func (w *world) operate(id string) {
	n, err := w.e.Node(w.ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	verbs := []node.Event{
		node.Manage, node.Provide, node.Inspect, node.Deploy, node.Rebuild, node.Delete, node.Abort,
		node.Clean, node.Service, node.RescueIt, node.Unrescue, node.Unhold,
	}
	verb := verbs[w.pick(len(verbs))]
	if verb == node.Abort && w.pick(4) > 0 {
		return
	}
	if n.Maintenance {
		w.allow(w.e.SetMaintenance(w.ctx, id, false, ""))
	}
	if (verb == node.Deploy || verb == node.Rebuild) && len(n.InstanceInfo) == 0 {
		_, err := w.e.UpdateNode(w.ctx, id, func(n *node.Node) error {
			n.InstanceInfo = map[string]any{"image_source": "http://images/os.raw", "image_checksum": noSum,
				"tenant": w.pick(1_000_000)}
			return nil
		})
		w.allow(err)
	}
	q := plan.Request{Verb: verb}
	if verb == node.Clean {
		q.CleanSteps = w.anySteps("erase_devices_metadata")
	}
	if verb == node.Service {
		q.ServiceSteps = w.anySteps("burnin_cpu")
	}
	if verb == node.RescueIt {
		q.RescuePassword = "x"
	}
	w.allow(w.e.Provision(w.ctx, id, q))
	if ask := w.chores(id); w.pick(4) == 0 {
		w.allow(ask[w.pick(len(ask))]())
	}
}

// chores are an operator's requests to one node's BMC outside of runs.
func (w *world) chores(id string) []func() error {
	odd := w.pick(2) == 1
	return []func() error{
		func() error { return w.e.SetPower(w.ctx, id, node.PowerOn, 0) },
		func() error {
			w.allow(w.e.SetPower(w.ctx, id, node.SoftPowerOff, 0))
			time.Sleep(time.Duration(w.pick(20)) * time.Second)
			return w.e.TryPower(w.ctx, id, node.PowerOff)
		},
		func() error {
			return w.e.AttachMedium(w.ctx, id, node.Medium{Device: "cdrom", Image: "http://images/a.iso"})
		},
		func() error { return w.e.DetachMedia(w.ctx, id, nil) },
		func() error { return w.e.ChangeBootMode(w.ctx, id, map[bool]string{true: "bios", false: "uefi"}[odd]) },
		func() error { return w.e.ChangeSecureBoot(w.ctx, id, odd) },
		func() error { return w.e.SetConsole(w.ctx, id, odd) },
		func() error {
			_, _, err := w.e.CallVendor(w.ctx, id, "POST", "slow", nil)
			return err
		},
	}
}

// anySteps lists a few steps of all sides, inBand among them.
func (w *world) anySteps(inBand string) []node.Step {
	all := []node.Step{
		{Interface: "deploy", Step: inBand}, {Interface: "deploy", Step: "hold"}, {Interface: "power", Step: "reboot"},
		{Interface: "deploy", Step: "wait"}, {Interface: "deploy", Step: "wait", Args: map[string]any{"seconds": 20.0}},
		{Interface: "bios", Step: "apply_configuration", Args: map[string]any{"settings": w.pick(3)}},
		{Interface: "firmware", Step: "update"}, {Interface: "deploy", Step: "nobody"},
	}
	var steps []node.Step
	for range 1 + w.pick(4) {
		steps = append(steps, all[w.pick(len(all))])
	}
	return steps
}
