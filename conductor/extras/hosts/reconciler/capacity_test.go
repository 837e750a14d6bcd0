package reconciler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A host that has waited for room, and finds its node reserved when there is some,
// is looked at once that is over, and not all the time until then.
func TestRoomForReserved(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		var looks atomic.Int64
		w.limit, w.glance = 1, func(n node.Node) {
			if n.Name == "default~b" && looks.Add(1) > 1000 {
				time.Sleep(time.Second) // else no time would pass at all
			}
		}
		w.start()
		w.machines.hold(true)
		w.apply("b", nil)
		w.until("b", "on", func(h hostapi.Host) bool { return h.Status.PoweredOn })
		w.apply("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioning)
		w.edit("b", withImage("http://images/a"))
		w.until("b", "delayed", func(h hostapi.Host) bool { return h.Status.OperationalStatus == hostapi.StatusDelayed })
		w.machines.slowness(20 * time.Second)
		w.check(w.eng.SetPower(context.Background(), "default~b", node.PowerOff, 0))
		looks.Store(0)
		w.machines.hold(false)
		w.becomes("b", hostapi.StateProvisioned)
		if n := looks.Load(); n > 100 {
			t.Errorf("looked at %d times", n)
		}
	})
}

// TestManyHosts: a site that is applied at once fills the room there is for busy
// nodes, as deploys that do not end show, comes to rest soon once they end, and
// never has more of them. BenchmarkConverge does it in real time.
func TestManyHosts(t *testing.T) {
	const many = 100
	in(t, func(t *testing.T, w *world) {
		w.machines.hold(true)
		for i := range many {
			w.apply(fmt.Sprintf("h%d", i), withImage("http://images/a"))
		}
		for range 1000 {
			if busyOf(w.eng) == int64(w.limit) && w.delayed() == many-w.limit {
				break
			}
			time.Sleep(10 * time.Second)
		}
		if busy, waiting := busyOf(w.eng), w.delayed(); busy != int64(w.limit) || waiting != many-w.limit {
			t.Errorf("%d nodes are busy, and %d hosts wait, of %d and a limit of %d", busy, waiting, many, w.limit)
		}
		start := time.Now()
		w.machines.hold(false)
		for i := range many {
			w.becomes(fmt.Sprintf("h%d", i), hostapi.StateProvisioned)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%d hosts took %s", many, took)
		}
		if most := w.most.Load(); most > int64(w.limit) {
			t.Errorf("%d nodes were busy at a time, of %d that may be", most, w.limit)
		}
	})
}
