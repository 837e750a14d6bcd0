package reconciler_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// rooms are conductor groups. Their leaders have the engine of the world.
type rooms struct {
	w    *world
	lost atomic.Int64 // how many of the next answers do not arrive
	busy atomic.Int64 // nodes at work that are not hosts'

	mu    sync.Mutex
	away  string // the reason why no conductor acts in rack-a, "" when one does
	acted []string
}

func (r *rooms) Act(ctx context.Context, group string, n node.Node, a host.Action) (string, error) {
	if why := r.Away(group); why != "" {
		return "", &reconciler.AwayError{Group: group, Err: errors.New(why)}
	}
	if n.UUID != "" {
		ctx = node.AtRevision(ctx, n.Revision)
	}
	uuid, err := reconciler.Act(ctx, r.w.eng, n.UUID, a)
	if err == nil {
		r.mu.Lock()
		r.acted = append(r.acted, group)
		r.mu.Unlock()
	}
	if r.lost.Add(-1) >= 0 {
		return "", &reconciler.AwayError{Group: group, Err: errors.New("no answer")}
	}
	return uuid, err
}

func (r *rooms) MediaSlots(ctx context.Context, _ string, n node.Node) ([]node.MediaSlot, error) {
	return r.w.eng.MediaSlots(ctx, n.UUID)
}

func (r *rooms) Led(group string) bool { return group == "rack-a" && r.Away(group) == "" }

func (r *rooms) Silent(string) bool { return false }

func (r *rooms) Away(group string) string {
	if group != "rack-a" {
		return "there is no conductor of " + group
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away
}

func (r *rooms) CountNodes(context.Context, map[node.State]bool) (int, error) {
	return int(r.busy.Load()), nil
}

// leaderless sets the reason why no conductor acts in rack-a.
func (r *rooms) leaderless(why string) {
	r.mu.Lock()
	r.away = why
	r.mu.Unlock()
	r.w.rec.GroupChanged("rack-a")
}

func (r *rooms) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.acted)
}

// inGroups runs a test in a world with the group rack-a, where the secret of BMCs is.
func inGroups(t *testing.T, test func(t *testing.T, w *world, r *rooms)) {
	in(t, func(t *testing.T, w *world) {
		w.stop()
		r := &rooms{w: w}
		w.groups = r
		w.start()
		test(t, w, r)
	})
}

func inRack(h *hostapi.Host) { h.Annotations = map[string]string{hostapi.AnnotationGroup: "Rack-A "} }

// A host's acts happen in the group that it names. While that group has no leader, the host reports it. It is no
// failure of the machine.
func TestHostOfAnotherGroup(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, r *rooms) {
		w.apply("a", inRack)
		w.becomes("a", hostapi.StateAvailable)
		if n := w.node("a"); n.ConductorGroup != "rack-a" || r.count() == 0 {
			t.Errorf("the node is in %q, with %d acts by its leader", n.ConductorGroup, r.count())
		}
		r.leaderless("no conductor leads rack-a")
		w.edit("a", withImage("http://images/a"))
		h := w.until("a", "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
		if st := h.Status; !strings.HasSuffix(st.ErrorMessage, ": no conductor leads rack-a") ||
			st.ErrorCount != 0 || st.OperationalStatus != hostapi.StatusError || st.ErrorType != "" {
			t.Errorf("the status is %+v", st)
		}
		r.leaderless("")
		if h := w.becomes("a", hostapi.StateProvisioned); h.Status.ErrorMessage != "" {
			t.Errorf("the error is still %q", h.Status.ErrorMessage)
		}
		w.remove("a")
		r.leaderless("no conductor leads rack-a")
		w.until("a", "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
		r.leaderless("")
		w.gone("a")
	})
}

// No act is done again when its answer is lost.
func TestLostAnswers(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, r *rooms) {
		life := func(name string) (acts int) {
			before := r.count()
			w.apply(name, inRack)
			w.becomes(name, hostapi.StateAvailable)
			w.edit(name, withImage("http://images/a"))
			w.becomes(name, hostapi.StateProvisioned)
			w.remove(name)
			w.gone(name)
			return r.count() - before
		}
		want := life("a")
		r.lost.Store(1000)
		if got := life("b"); got != want || want < 7 {
			t.Errorf("%d acts while no answer arrives, %d otherwise", got, want)
		}
	})
}

// notMoved is why a host's node stays where it is.
func notMoved(h hostapi.Host) string {
	for _, c := range h.Status.Conditions {
		if c.Type == hostapi.ConditionReady {
			return c.Message
		}
	}
	return ""
}

// A host that was never made, in a group that does not exist, can be deleted.
func TestDeletedHostOfNoGroup(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, _ *rooms) {
		w.apply("a", func(h *hostapi.Host) { h.Annotations = map[string]string{hostapi.AnnotationGroup: "rack-x"} })
		w.until("a", "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
		w.remove("a")
		w.gone("a")
	})
}

// A node is moved to a group that a conductor leads, and to no other.
func TestMovedHost(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, _ *rooms) {
		w.apply("a", nil)
		w.becomes("a", hostapi.StateAvailable)
		w.edit("a", annotate(hostapi.AnnotationGroup, "rack-x"))
		h := w.until("a", "told that it does not move", func(h hostapi.Host) bool { return notMoved(h) != "" })
		if n := w.node("a"); n.ConductorGroup != "" || !strings.Contains(notMoved(h), "rack-x") ||
			h.Status.OperationalStatus != hostapi.StatusOK {
			t.Errorf("the node is in %q, the status is %+v", n.ConductorGroup, h.Status)
		}
		w.edit("a", annotate(hostapi.AnnotationGroup, "rack-a"))
		w.until("a", "moved", func(h hostapi.Host) bool {
			return w.node("a").ConductorGroup == "rack-a" && notMoved(h) == ""
		})
		w.edit("a", unannotate(hostapi.AnnotationGroup))
		w.edit("a", withImage("http://images/a"))
		w.becomes("a", hostapi.StateProvisioned)
		if n := w.node("a"); n.ConductorGroup != "rack-a" {
			t.Errorf("without the annotation the node went to %q", n.ConductorGroup)
		}
	})
}

// Nodes of all groups count for the limit of busy ones.
func TestLimitOfAllGroups(t *testing.T) {
	inGroups(t, func(t *testing.T, w *world, r *rooms) {
		r.busy.Store(int64(w.limit))
		w.apply("a", inRack)
		w.until("a", "delayed", func(h hostapi.Host) bool { return h.Status.OperationalStatus == hostapi.StatusDelayed })
		r.busy.Store(0)
		w.becomes("a", hostapi.StateAvailable)
	})
}

// A conductor alone has no groups, and says so.
func TestGroupWithoutCluster(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.apply("a", inRack)
		h := w.until("a", "in error", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" })
		if !strings.Contains(h.Status.ErrorMessage, "in no cluster") {
			t.Errorf("the error is %q", h.Status.ErrorMessage)
		}
		w.edit("a", unannotate(hostapi.AnnotationGroup))
		w.becomes("a", hostapi.StateAvailable)
	})
}
