package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
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

// panicky is a BMC driver with a fault of its own.
type panicky struct{ *world }

func (panicky) PowerState(context.Context, node.Node) (node.PowerState, error) {
	panic("assignment to entry in nil map")
}

func TestAPanicFailsItsNodeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.drive = func(b core.BMC) core.BMC { return panicky{w} }
		w.start()
		defer w.close()
		n := w.ask(w.create("redfish").UUID, node.Manage, node.Enroll)
		if !strings.Contains(n.LastError, "nil map") {
			t.Errorf("last_error is %q", n.LastError)
		}
	})
}

// TestEveryEffectEnds: an effect without an end of its own gives its node back, with a reason. Effects that have left
// their worker have an end of their own.
func TestEveryEffectEnds(t *testing.T) {
	for name, left := range map[string]bool{"holds its worker": false, "has left its worker": true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1)
			w.start()
			defer w.close()
			own := errors.New("nobody came")
			w.e.Perform = func(ctx context.Context, ef node.Effect, leave func()) (any, error) {
				patience := 40 * time.Minute
				if left {
					leave()
				}
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(patience):
					return nil, node.Refuse(node.Conflict, "%v", own)
				}
			}
			want := map[bool]string{false: "power.validate did not end within 30m0s", true: own.Error()}[left]
			if n := w.ask(w.create("redfish").UUID, node.Manage, node.Enroll); !strings.Contains(n.LastError, want) {
				t.Errorf("%s: last_error is %q", name, n.LastError)
			}
		})
	}
}

// slowCommit leaves time for another lookup between reading and writing.
type slowCommit struct{ *mortal }

func (s slowCommit) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	n, err := s.mortal.Commit(ctx, c)
	time.Sleep(time.Second)
	return n, err
}

// Of lookups at the same time one gets a token, and it stays the right one for those that come later.
func TestLookupsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		n := waiting(t, w)
		w.crash()
		w.faults = func(m *mortal) core.Store { return slowCommit{m} }
		w.start()
		defer w.close()
		word := w.word(n.UUID)
		tokens := make(chan string, 5)
		for i := range 5 {
			go func() {
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				_, token, _ := w.e.Lookup(w.ctx, []string{macOf(n.UUID)}, "", node.Caller{Word: word})
				tokens <- token
			}()
		}
		var real []string
		for range 5 {
			if token := <-tokens; len(token) >= 32 {
				real = append(real, token)
			}
		}
		if slices.Sort(real); len(real) == 0 || len(slices.Compact(real)) != 1 {
			t.Fatalf("the tokens given out are %q, expected one", real)
		}
		hb := agentapi.Heartbeat{CallbackURL: "https://10.0.0.5:9999", AgentToken: real[0], AgentVersion: "1"}
		if err := w.e.Heartbeat(w.ctx, n.UUID, hb); err != nil {
			t.Error(err)
		}
	})
}

// TestInspectionWithATakenAddress: two BMCs report the same address. The second inspection ends all the same.
func TestInspectionWithATakenAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.system = node.System{CPUs: 2, MACs: []string{"02-00-00-00-00-01", "02:00:00:00:00:01", "nonsense"}}
		w.start()
		defer w.close()
		for i := range 2 {
			n := w.create("redfish")
			if err := w.e.DeletePort(w.ctx, portOf(w, n.UUID)); err != nil { // a node that has ports gets no others
				t.Fatal(err)
			}
			if _, err := w.e.UpdateNode(w.ctx, n.UUID, func(n *node.Node) error {
				n.Interfaces["inspect"] = "redfish"
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			w.ask(n.UUID, node.Manage, node.Manageable)
			w.ask(n.UUID, node.Inspect, node.Manageable)
			ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: n.UUID})
			if err != nil || len(ports) != 1-i {
				t.Errorf("node %d has ports %v, %v", i, ports, err)
			}
		}
	})
}

// portOf is the only port of a node.
func portOf(w *world, uuid string) string {
	w.t.Helper()
	ports, err := w.e.Ports(w.ctx, node.PortQuery{NodeUUID: uuid})
	if err != nil || len(ports) != 1 {
		w.t.Fatalf("ports %v, %v", ports, err)
	}
	return ports[0].UUID
}

// TestReasonOutlivesPower: the reason of a failure survives an operator's power changes.
func TestReasonOutlivesPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		n := waiting(t, w)
		defer w.close()
		if err := w.e.Provision(w.ctx, n.UUID, plan.Request{Verb: node.Abort}); err != nil {
			t.Fatal(err)
		}
		before := w.settled(n.UUID)
		if err := w.e.SetPower(w.ctx, n.UUID, node.PowerOff, 0); err != nil {
			t.Fatal(err)
		}
		if after := w.settled(n.UUID); after.PowerState != node.PowerOff || after.LastError != before.LastError ||
			after.LastError == "" {
			t.Errorf("%q became %q (power %q)", before.LastError, after.LastError, after.PowerState)
		}
	})
}
