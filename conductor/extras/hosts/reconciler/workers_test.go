package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Acts of the conductor's own that wait for others, as deploys do for the server of their image, do not hold up the
// hosts of other groups.
func TestSlowOwnActs(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, _ *rooms) {
		w.stop()
		answers := make(chan struct{})
		var waiting atomic.Int64
		w.slow = func(v node.Event) {
			if v == node.Deploy {
				waiting.Add(1)
				<-answers
			}
		}
		w.start()
		own := manyHosts(w, "")
		w.apply("other", inRack)
		for _, name := range append(own, "other") {
			w.becomes(name, hostapi.StateAvailable)
		}
		for _, name := range own {
			w.edit(name, withImage("http://images/a"))
		}
		synctest.Wait()
		if waiting.Load() != 8 {
			t.Errorf("%d deploys wait for the image", waiting.Load())
		}
		began := time.Now()
		w.edit("other", withImage("http://images/a"))
		w.becomes("other", hostapi.StateProvisioned)
		if took := time.Since(began); took > 10*time.Second || waiting.Load() != 8 {
			t.Errorf("deployed after %s, beside %d that wait", took, waiting.Load())
		}
		close(answers)
		for _, name := range own {
			w.becomes(name, hostapi.StateProvisioned)
		}
	})
}

// nowhere are groups without leaders, which takes a while to find out.
type nowhere struct {
	*rooms
	at, most atomic.Int64
}

func (n *nowhere) Away(string) string { return "" }

func (n *nowhere) Act(_ context.Context, group string, _ node.Node, _ host.Action) (string, error) {
	n.most.Store(max(n.most.Load(), n.at.Add(1)))
	defer n.at.Add(-1)
	time.Sleep(10 * time.Millisecond)
	return "", &reconciler.AwayError{Group: group, Err: errors.New("nobody leads it")}
}

// Hosts name more groups than there are conductors. They have no more workers than any other hosts, and no goroutine
// each.
func TestUnknownGroups(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		groups := &nowhere{rooms: &rooms{w: w}}
		w.groups = groups
		w.start()
		before := runtime.NumGoroutine()
		for i := range 500 {
			w.apply(fmt.Sprintf("h%d", i), inGroup(fmt.Sprintf("rack-%d", i)))
		}
		synctest.Wait()
		time.Sleep(time.Millisecond)
		if more := runtime.NumGoroutine() - before; more > 50 || groups.most.Load() != 8 {
			t.Errorf("%d goroutines more, and %d acts at a time", more, groups.most.Load())
		}
		w.apply("own", nil)
		began := time.Now()
		w.becomes("own", hostapi.StateAvailable)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a host of the default group is available after %s", took)
		}
	})
}
