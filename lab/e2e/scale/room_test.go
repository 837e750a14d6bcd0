//go:build e2e

package scale

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

var (
	nodes     = flag.Int("nodes", 300, "how many nodes the room has")
	beatEvery = flag.Duration("beat", 3*time.Second, "how often an agent calls")
	readEvery = flag.Duration("power", 4*time.Second, "how often the power of a node is read")
	steady    = flag.Duration("steady", 4*time.Second, "how long the room is measured")
	kills     = flag.Int("kills", 1, "how often the leader is killed")
)

// longest is how long a takeover may take.
const longest = 10 * time.Second

// TestE2EScaleRoom: a room with agents that call, under power readings, with its leader killed.
func TestE2EScaleRoom(t *testing.T) {
	began := time.Now()
	c := newCluster(t, func(db *store.Database) error { return fillRoom(t.Context(), db, *nodes) },
		"--boot=false", "--sync-power-state-interval", readEvery.String())
	fmt.Printf("scale: %d nodes written in %.1f s\n", *nodes, time.Since(began).Seconds())
	b := newBMCs(t, true, nil)
	c.start()
	h := &hearts{callers: newCallers(c.members), count: *nodes, every: *beatEvery}
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	busy.Go(func() { h.run(ctx) })
	defer busy.Wait()
	defer stop()
	time.Sleep(*steady / 5) // the first readings log in everywhere
	c.quiet(h, b)
	for i := range *kills {
		c.kill(i, h)
	}
	stop()
	busy.Wait()
	if n := h.refused.Load(); n > 0 {
		t.Errorf("%d heartbeats were refused, such as %v", n, h.lastWord.Load())
	}
	fmt.Printf("scale: %d heartbeats taken in all, %d tries while nobody led, the latest %.1f s late\n", h.taken.Load(),
		h.again.Load(), time.Duration(h.behind.Load()).Seconds())
	c.stop()
}

// quiet measures the room while nothing befalls it.
func (c *cluster) quiet(h *hearts, b *bmcs) {
	c.t.Helper()
	leader := c.leader()
	follower := c.followers(leader)[0]
	leader.Signal(syscall.SIGUSR1)
	c.forget()
	used, made, beats, asked, began := c.usage(), c.transactions(), h.taken.Load(), b.asked.Load(), time.Now()
	end := began.Add(*steady)
	var both sync.WaitGroup
	for who, m := range map[string]*member{"the leader": leader, "a follower": follower} {
		both.Go(func() { c.ask(who, m, end) })
	}
	both.Wait()
	took := time.Since(began)
	fmt.Printf("scale: %d nodes for %.0f s: %.0f heartbeats and %.0f requests to BMCs a second, %.0f transactions a "+
		"second\n", *nodes, took.Seconds(),
		float64(h.taken.Load()-beats)/took.Seconds(), float64(b.asked.Load()-asked)/took.Seconds(),
		float64(c.transactions()-made)/took.Seconds())
	fmt.Printf("scale: processors: %s; %s leads\n", c.usage().since(used, took), leader.Name)
	leader.Signal(syscall.SIGUSR1)
	c.statements()
	for _, m := range c.members {
		fmt.Printf("scale: %s has %.0f MiB\n", m.Name, m.memory())
	}
	c.top(leader)
	if expected := float64(*nodes) * took.Seconds() / beatEvery.Seconds(); float64(h.taken.Load()-beats) < 0.8*expected {
		c.t.Errorf("%d heartbeats were taken, expected %.0f", h.taken.Load()-beats, expected)
	}
	if expected := float64(*nodes) * took.Seconds() / readEvery.Seconds(); float64(b.asked.Load()-asked) < 0.8*expected {
		c.t.Errorf("BMCs were asked %d times, expected %.0f or more", b.asked.Load()-asked, expected)
	}
}

// ask asks one conductor this and that, ten times a second, until a time.
func (c *cluster) ask(who string, m *member, end time.Time) {
	kinds := map[string]struct {
		method, path string
		body         any
	}{
		"a page of 100":              {http.MethodGet, "/v1/nodes?limit=100", nil},
		"a page from the middle":     {http.MethodGet, "/v1/nodes?limit=100&marker=" + uuidOf(*nodes/2), nil},
		"a page of available, names": {http.MethodGet, "/v1/nodes?limit=100&provision_state=available&sort_key=name", nil},
		"a page in detail":           {http.MethodGet, "/v1/nodes?limit=100&detail=true", nil},
		"show":                       {http.MethodGet, "", nil},
		"a write":                    {http.MethodPatch, "", nil}, // of another value each time
	}
	took := map[string]times{}
	for i := 0; time.Now().Before(end); i++ {
		for kind, k := range kinds {
			path := k.path
			if path == "" {
				path = "/v1/nodes/" + uuidOf(rand.IntN(*nodes))
			}
			if k.method == http.MethodPatch {
				k.body = []map[string]any{{"op": "add", "path": "/extra/probe", "value": fmt.Sprint(who, i)}}
			}
			began := time.Now()
			if _, err := m.call(c.http, k.method, path, k.body, nil); err != nil {
				c.t.Errorf("%s: %v", who, err)
				return
			}
			took[kind] = append(took[kind], time.Since(began))
			time.Sleep(100 * time.Millisecond)
		}
	}
	for kind, all := range took {
		fmt.Printf("scale: by %s: %-27s %s\n", who, kind, all)
	}
}

// kill ends the leader, and measures the time without an answer to a write.
func (c *cluster) kill(nth int, h *hearts) {
	c.t.Helper()
	leader := c.leader()
	other := c.followers(leader)[0]
	again := h.again.Load()
	leader.Signal(syscall.SIGKILL)
	leader.End()
	began := time.Now()
	for {
		_, err := other.call(c.http, http.MethodPatch, "/v1/nodes/"+uuidOf(0),
			[]map[string]any{{"op": "add", "path": "/extra/kill", "value": fmt.Sprint(nth)}}, nil)
		if err == nil {
			break
		}
		if time.Since(began) > patience {
			c.t.Fatalf("nobody took over: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	fmt.Printf("scale: the leader was killed: writes went on after %.2f s, %d tries of heartbeats in vain\n",
		took.Seconds(), h.again.Load()-again)
	if took > longest {
		c.t.Errorf("expected writes to go on within %s", longest)
	}
	leader.Start()
	used, then := c.usage(), time.Now()
	time.Sleep(*steady / 5) // the new leader reads all nodes
	fmt.Printf("scale: processors after it: %s\n", c.usage().since(used, time.Since(then)))
}
