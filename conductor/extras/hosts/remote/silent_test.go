package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// calling is a caller of the group rack-a, which has a leader.
func calling(call func(ctx context.Context, path string) ([]byte, error)) *Caller {
	return NewCaller(Config{Log: quiet, Cluster: groups{"rack-a": true}, Patience: node.DefaultPatience(),
		Call: func(ctx context.Context, _, path string, _ []byte) ([]byte, error) { return call(ctx, path) }})
}

// ice is a leader that takes calls, and answers none until it thaws.
type ice struct {
	thaw          chan struct{}
	waiting, most atomic.Int64
}

func newIce() *ice { return &ice{thaw: make(chan struct{})} }

func (i *ice) call(ctx context.Context, _ string) ([]byte, error) {
	i.most.Store(max(i.most.Load(), i.waiting.Add(1)))
	defer i.waiting.Add(-1)
	select {
	case <-i.thaw:
		return []byte(`{"node":"n1"}`), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var (
	patient = node.Node{UUID: "n1", DriverInfo: map[string]any{"bmc_call_timeout": 200}}
	write   = host.SetMaintenance{}
)

// acts does one thing many times at once, and says how long each took to be away; 0 for those that were answered.
func acts(t *testing.T, c *Caller) (took []time.Duration) {
	t.Helper()
	took = make([]time.Duration, 10)
	var all sync.WaitGroup
	for i := range took {
		all.Go(func() {
			began := time.Now()
			_, err := c.Act(t.Context(), "rack-a", patient, write)
			if err != nil && !isAway(err) {
				t.Errorf("an act ends with %v", err)
			}
			if took[i] = time.Since(began); err != nil && took[i] == 0 {
				took[i] = time.Nanosecond
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

func isAway(err error) bool {
	var away *reconciler.AwayError
	return errors.As(err, &away)
}

// TestNoAnswer: calls to a frozen leader end, even if a BMC may take longer. While it is frozen, one call at a time
// asks it, and the others are refused at once. After the next answer, calls are no longer alone.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen := newIce()
		c := calling(frozen.call)
		if took := acts(t, c); took[0] != actTime || frozen.most.Load() != 10 {
			t.Errorf("the first acts, %d at a time, ended after %s", frozen.most.Load(), took)
		}
		time.Sleep(tryAgain)
		for range 3 {
			frozen.most.Store(0)
			if took := acts(t, c); took[8] != time.Nanosecond || took[9] != actTime || frozen.most.Load() != 1 {
				t.Errorf("acts on a silent leader, %d at a time, ended after %s", frozen.most.Load(), took)
			}
			if why := c.Away("rack-a"); !strings.Contains(why, "does not answer") || !c.Silent("rack-a") {
				t.Errorf("away for %q", why)
			}
			time.Sleep(tryAgain)
		}
		began := time.Now()
		if _, err := c.MediaSlots(t.Context(), "rack-a", patient); !isAway(err) ||
			time.Since(began) != 200*time.Second+actTime {
			t.Errorf("a question ended after %s with %v", time.Since(began), err)
		}
		time.Sleep(tryAgain)
		close(frozen.thaw)
		acts(t, c)
		if took := acts(t, c); took[9] != 0 || c.Away("rack-a") != "" || c.Silent("rack-a") {
			t.Errorf("acts on a leader that answers again ended after %s, away for %q", took, c.Away("rack-a"))
		}
	})
}

// TestSlowProbe: a question to a BMC that is the first to a silent leader keeps the others from it no longer than an
// act would.
func TestSlowProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen, slow := newIce(), newIce()
		c := calling(func(ctx context.Context, path string) ([]byte, error) {
			if path == mediaPath {
				return slow.call(ctx, path)
			}
			return frozen.call(ctx, path)
		})
		acts(t, c)
		time.Sleep(tryAgain)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = c.MediaSlots(t.Context(), "rack-a", patient) })
		synctest.Wait()
		close(frozen.thaw)
		time.Sleep(probeTime - 1)
		if took := acts(t, c); took[0] != time.Nanosecond {
			t.Errorf("beside a probe acts ended after %s", took)
		}
		time.Sleep(time.Nanosecond)
		acts(t, c)
		if took := acts(t, c); took[9] != 0 {
			t.Errorf("acts on a leader whose BMC is slow ended after %s", took)
		}
		asking.Wait()
		if took := acts(t, c); took[9] != 0 {
			t.Errorf("after the slow question acts ended after %s", took)
		}
	})
}

// TestUnserved: a leader that has not begun to serve, or is another one meanwhile, is asked by all hosts, and is away
// once that takes longer than a takeover.
func TestUnserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var serves atomic.Bool
		var calls atomic.Int64
		c := calling(func(context.Context, string) ([]byte, error) {
			calls.Add(1)
			if serves.Load() {
				return []byte(`{"node":"n1"}`), nil
			}
			return nil, &UnservedError{Err: errors.New("503 Service Unavailable")}
		})
		for range 3 {
			acts(t, c)
			c.reach.changes()
			time.Sleep(patience / 3)
		}
		if calls.Load() != 30 || c.Silent("rack-a") || c.Away("rack-a") != "" {
			t.Errorf("%d calls of 30 reached a leader that begins, silent %t, away for %q", calls.Load(),
				c.Silent("rack-a"), c.Away("rack-a"))
		}
		serves.Store(true)
		if took := acts(t, c); took[9] != 0 {
			t.Errorf("acts ended after %s", took)
		}
		serves.Store(false)
		for range 4 {
			acts(t, c)
			c.reach.changes()
			time.Sleep(patience / 3)
		}
		acts(t, c)
		if why := c.Away("rack-a"); !strings.Contains(why, "does not answer") {
			t.Errorf("away for %q after %s without service", why, patience)
		}
		serves.Store(true)
		time.Sleep(tryAgain)
		acts(t, c)
		if took := acts(t, c); took[9] != 0 || c.Away("rack-a") != "" {
			t.Errorf("acts on a leader that serves ended after %s", took)
		}
	})
}

// TestNewLeader: a new leader is asked at once, independent of calls to the last one, even those under way.
func TestNewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen, now := newIce(), newIce()
		close(now.thaw)
		var changed atomic.Bool
		c := calling(func(ctx context.Context, path string) ([]byte, error) {
			if changed.Load() {
				return now.call(ctx, path)
			}
			return frozen.call(ctx, path)
		})
		begins := func() {
			body, _ := json.Marshal(news{Group: "rack-a", All: true})
			q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/cluster/"+changedPath+"?group=rack-a",
				bytes.NewReader(body))
			w := httptest.NewRecorder()
			if c.Listener("/cluster/", plainly, &hosts{}).ServeHTTP(w, q); w.Code != http.StatusOK {
				t.Fatalf("the news is answered %d", w.Code)
			}
		}
		acts(t, c)
		time.Sleep(tryAgain)
		var late sync.WaitGroup
		late.Go(func() { acts(t, c) }) // a probe, which fails after the change
		time.Sleep(time.Second)
		changed.Store(true)
		if took := acts(t, c); took[9] != time.Nanosecond {
			t.Errorf("before the news acts ended after %s", took)
		}
		begins()
		if took := acts(t, c); took[9] != 0 {
			t.Errorf("acts on a new leader ended after %s", took)
		}
		late.Wait()
		if took := acts(t, c); took[9] != 0 || c.Away("rack-a") != "" {
			t.Errorf("after a call to the last leader acts ended after %s, away for %q", took, c.Away("rack-a"))
		}
	})
}

// slowLeader asks Neutron or an image's server, which do not answer, before it writes.
type slowLeader struct{ leader }

func (s *slowLeader) wait(ctx context.Context) error {
	<-ctx.Done()
	if s.refuses != nil {
		return s.refuses
	}
	return ctx.Err()
}
func (s *slowLeader) DeleteNode(ctx context.Context, _ string) error { return s.wait(ctx) }
func (s *slowLeader) Provision(ctx context.Context, _ string, _ plan.Request) error {
	return s.wait(ctx)
}
func (s *slowLeader) SetPower(ctx context.Context, _ string, _ node.PowerState, _ time.Duration) error {
	return s.wait(ctx)
}

// TestSlowActs: a leader gives up an act that takes too long before its caller does, and answers so. It is not silent.
func TestSlowActs(t *testing.T) {
	busy := node.Refuse(node.Busy, "Neutron does not answer")
	for name, is := range map[string]struct {
		act     host.Action
		refuses error
		after   time.Duration
	}{
		"deletion":         {host.DeleteNode{}, nil, 3*time.Minute + 8*time.Second},
		"refused deletion": {host.DeleteNode{}, busy, 3*time.Minute + 8*time.Second},
		"deploy":           {host.Provision{Request: plan.Request{Verb: node.Deploy}}, nil, 48 * time.Second},
		"rebuild":          {host.Provision{Request: plan.Request{Verb: node.Rebuild}}, nil, 48 * time.Second},
		"inspection":       {host.Provision{Request: plan.Request{Verb: node.Inspect}}, nil, 8 * time.Second},
		"power":            {host.SetPower{}, nil, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := wired(Server("/cluster/", plainly, &slowLeader{leader{refuses: is.refuses}}))
				began := time.Now()
				_, err := c.Act(t.Context(), "rack-a", node.Node{UUID: "n1"}, is.act)
				took := time.Since(began)
				var refused *node.Refusal
				if err == nil || isAway(err) || errors.As(err, &refused) != (is.refuses != nil) || took != is.after ||
					is.refuses == nil && !strings.Contains(err.Error(), "not done within "+took.String()) {
					t.Errorf("after %s, expected %s: %v", took, is.after, err)
				}
				if c.Silent("rack-a") {
					t.Error("the leader counts as silent")
				}
				frozen := calling(newIce().call)
				began = time.Now()
				if _, err := frozen.Act(t.Context(), "rack-a", node.Node{UUID: "n1"}, is.act); !isAway(err) ||
					time.Since(began) != is.after+answerTime {
					t.Errorf("by a frozen leader after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}
