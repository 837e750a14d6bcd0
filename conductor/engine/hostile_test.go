package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

var errDisk = errors.New("disk trouble made by the test")

// flaky is a store with writes and claims that fail at random: refused, or done with their answer lost.
type flaky struct {
	*mortal
	w     *world
	often func() float64
}

func (f *flaky) roll() (before, after bool) {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	p := f.often()
	return f.w.rng.Float64() < p, f.w.rng.Float64() < p
}

func lossy[T any](f *flaky, call func() (T, error)) (T, error) {
	var none T
	before, after := f.roll()
	if before {
		return none, errDisk
	}
	v, err := call()
	if err == nil && after {
		return none, errDisk
	}
	return v, err
}

func (f *flaky) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	return lossy(f, func() (node.Node, error) { return f.mortal.Commit(ctx, c) })
}

func (f *flaky) Claim(ctx context.Context, owner string, now time.Time, lease time.Duration,
	nodes []string) ([]node.Effect, error) {
	return lossy(f, func() ([]node.Effect, error) { return f.mortal.Claim(ctx, owner, now, lease, nodes) })
}

func (f *flaky) Release(ctx context.Context, e node.Effect, at time.Time, why string) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.mortal.Release(ctx, e, at, why) })
	return err
}

func (f *flaky) Note(ctx context.Context, e node.Effect) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.mortal.Note(ctx, e) })
	return err
}

func (f *flaky) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.mortal.Renew(ctx, e, until) })
	return err
}

func (f *flaky) PendingEffect(ctx context.Context, uuid string) (*node.Effect, error) {
	return lossy(f, func() (*node.Effect, error) { return f.mortal.PendingEffect(ctx, uuid) })
}

func (f *flaky) NodesWithEffects(ctx context.Context) ([]string, error) {
	return lossy(f, func() ([]string, error) { return f.mortal.NodesWithEffects(ctx) })
}

func (f *flaky) Expired(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return lossy(f, func() ([]string, error) { return f.mortal.Expired(ctx, now, limit) })
}

// TestSimulationOnABrokenStore is the simulation on a disk that fails: once
// the disk is well again, every node comes to rest.
func TestSimulationOnABrokenStore(t *testing.T) {
	for seed := *simSeed; seed < *simSeed+uint64(*simLives); seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			w.settings.FastTrack, w.settings.FastTrackAny = seed%2 == 0, seed%4 == 0
			fails := 0.0
			w.faults = func(m *mortal) core.Store {
				return &flaky{m, w, func() float64 { return fails }}
			}
			set := func(p float64) {
				w.mu.Lock()
				fails = p
				w.mu.Unlock()
			}
			w.start()
			ids := []string{w.create("redfish").UUID, w.create("redfish").UUID}
			w.trouble = []float64{0, 0.05}[seed%2]
			set([]float64{0.02, 0.1, 0.3}[seed%3])
			for range 60 {
				w.tryToOperate(ids[w.pick(len(ids))])
				time.Sleep(time.Duration(w.pick(30)) * time.Second)
				if w.pick(15) == 0 {
					w.crash()
					set(0)
					w.start()
					set([]float64{0.02, 0.1, 0.3}[seed%3])
				}
			}
			set(0)
			w.mu.Lock()
			w.trouble = 0
			w.mu.Unlock()
			for _, id := range ids {
				began := time.Now()
				n := w.settled(id)
				if took := time.Since(began); took > 3*time.Hour {
					t.Errorf("seed %d: node %s came to rest in %q only after %s", seed, id, n.ProvisionState, took)
				}
				if n.ProvisionState.Class() == node.Failed && n.LastError == "" {
					t.Errorf("seed %d: node %s is %q without a reason", seed, id, n.ProvisionState)
				}
			}
			w.close()
		})
		if t.Failed() {
			return
		}
	}
}

// tryToOperate asks for a random verb; on a broken disk anything may be refused.
func (w *world) tryToOperate(id string) {
	verbs := []node.Event{node.Manage, node.Provide, node.Inspect, node.Deploy, node.Rebuild, node.Delete}
	_ = w.e.SetMaintenance(w.ctx, id, false, "")
	_, _ = w.e.UpdateNode(w.ctx, id, func(n *node.Node) error {
		if len(n.InstanceInfo) == 0 {
			n.InstanceInfo = map[string]any{"image_source": "http://images/os.raw", "image_checksum": noSum,
				"tenant": w.pick(1_000_000)}
		}
		return nil
	})
	_ = w.e.Provision(w.ctx, id, plan.Request{Verb: verbs[w.pick(len(verbs))]})
	if w.pick(5) == 0 {
		_ = w.e.SetPower(w.ctx, id, []node.PowerState{node.PowerOn, node.PowerOff, node.Rebooting}[w.pick(3)], 0)
	}
}

// loseOnce loses the answer of the one Commit that its test picks.
type loseOnce struct {
	*mortal
	pick func(node.Change) bool
}

func (l *loseOnce) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	n, err := l.mortal.Commit(ctx, c)
	if err == nil && l.pick != nil && l.pick(c) {
		l.pick = nil
		return node.Node{}, errDisk
	}
	return n, err
}

// TestOutcomeSavedAnswerLost: the outcome of power_on is saved, but the conductor gets an error. The ramdisk's call
// must be heard all the same.
func TestOutcomeSavedAnswerLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.faults = func(m *mortal) core.Store {
			return &loseOnce{m, func(c node.Change) bool { return c.Finish != nil && c.Finish.Name == "power.power_on" }}
		}
		w.start()
		defer w.close()
		n := w.create("redfish")
		w.ask(n.UUID, node.Manage, node.Manageable)
		began := time.Now()
		w.ask(n.UUID, node.Provide, node.Available)
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("cleaning took %s", took)
		}
	})
}
