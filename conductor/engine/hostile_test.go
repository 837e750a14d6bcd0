package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

var errDisk = errors.New("disk trouble made by the test")

// flaky is a store with writes and claims that fail at random: refused, or done with their answer lost.
type flaky struct {
	*enginetest.Mortal
	w     *enginetest.World
	often func() float64
}

func (f *flaky) roll() (before, after bool) {
	f.w.Mu.Lock()
	defer f.w.Mu.Unlock()
	p := f.often()
	return f.w.Rng.Float64() < p, f.w.Rng.Float64() < p
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
	return lossy(f, func() (node.Node, error) { return f.Mortal.Commit(ctx, c) })
}

func (f *flaky) Claim(ctx context.Context, owner string, now time.Time, lease time.Duration,
	nodes []string) ([]node.Effect, error) {
	return lossy(f, func() ([]node.Effect, error) { return f.Mortal.Claim(ctx, owner, now, lease, nodes) })
}

func (f *flaky) Release(ctx context.Context, e node.Effect, at time.Time, why string) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.Mortal.Release(ctx, e, at, why) })
	return err
}

func (f *flaky) Note(ctx context.Context, e node.Effect) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.Mortal.Note(ctx, e) })
	return err
}

func (f *flaky) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	_, err := lossy(f, func() (struct{}, error) { return struct{}{}, f.Mortal.Renew(ctx, e, until) })
	return err
}

func (f *flaky) PendingEffect(ctx context.Context, uuid string) (*node.Effect, error) {
	return lossy(f, func() (*node.Effect, error) { return f.Mortal.PendingEffect(ctx, uuid) })
}

func (f *flaky) NodesWithEffects(ctx context.Context) ([]string, error) {
	return lossy(f, func() ([]string, error) { return f.Mortal.NodesWithEffects(ctx) })
}

func (f *flaky) Expired(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return lossy(f, func() ([]string, error) { return f.Mortal.Expired(ctx, now, limit) })
}

// TestSimulationOnABrokenStore is the simulation on a disk that fails: once
// the disk is well again, every node comes to rest.
func TestSimulationOnABrokenStore(t *testing.T) {
	for seed := *simSeed; seed < *simSeed+uint64(*simLives); seed++ {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, seed)
			w.Settings.FastTrack, w.Settings.FastTrackAny = seed%2 == 0, seed%4 == 0
			fails := 0.0
			w.Faults = func(m *enginetest.Mortal) core.Store {
				return &flaky{m, w, func() float64 { return fails }}
			}
			set := func(p float64) {
				w.Mu.Lock()
				fails = p
				w.Mu.Unlock()
			}
			w.Start()
			ids := []string{w.Create("redfish").UUID, w.Create("redfish").UUID}
			w.Trouble = []float64{0, 0.05}[seed%2]
			set([]float64{0.02, 0.1, 0.3}[seed%3])
			for range 60 {
				tryToOperate(w, ids[w.Pick(len(ids))])
				time.Sleep(time.Duration(w.Pick(30)) * time.Second)
				if w.Pick(15) == 0 {
					w.Crash()
					set(0)
					w.Start()
					set([]float64{0.02, 0.1, 0.3}[seed%3])
				}
			}
			set(0)
			w.Mu.Lock()
			w.Trouble = 0
			w.Mu.Unlock()
			for _, id := range ids {
				began := time.Now()
				n := w.Settled(id)
				if took := time.Since(began); took > 3*time.Hour {
					t.Errorf("seed %d: node %s came to rest in %q only after %s", seed, id, n.ProvisionState, took)
				}
				if n.ProvisionState.Class() == node.Failed && n.LastError == "" {
					t.Errorf("seed %d: node %s is %q without a reason", seed, id, n.ProvisionState)
				}
			}
			w.Close()
		})
		if t.Failed() {
			return
		}
	}
}

// tryToOperate asks for a random verb; on a broken disk anything may be refused.
func tryToOperate(w *enginetest.World, id string) {
	verbs := []node.Event{node.Manage, node.Provide, node.Inspect, node.Deploy, node.Rebuild, node.Delete}
	_ = w.E.SetMaintenance(w.Ctx, id, false, "")
	_, _ = w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
		if len(n.InstanceInfo) == 0 {
			n.InstanceInfo = enginetest.Instance(w.Pick(1_000_000))
		}
		return nil
	})
	_ = w.E.Provision(w.Ctx, id, plan.Request{Verb: verbs[w.Pick(len(verbs))]})
	if w.Pick(5) == 0 {
		_ = w.E.SetPower(w.Ctx, id, []node.PowerState{node.PowerOn, node.PowerOff, node.Rebooting}[w.Pick(3)], 0)
	}
}

// loseOnce loses the answer of the one Commit that its test picks.
type loseOnce struct {
	*enginetest.Mortal
	pick func(node.Change) bool
}

func (l *loseOnce) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	n, err := l.Mortal.Commit(ctx, c)
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
		w := enginetest.New(t, 1)
		w.Faults = func(m *enginetest.Mortal) core.Store {
			return &loseOnce{m, func(c node.Change) bool { return c.Finish != nil && c.Finish.Name == "power.power_on" }}
		}
		w.Start()
		defer w.Close()
		n := w.Create("redfish")
		w.Ask(n.UUID, node.Manage, node.Manageable)
		began := time.Now()
		w.Ask(n.UUID, node.Provide, node.Available)
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("cleaning took %s", took)
		}
	})
}
