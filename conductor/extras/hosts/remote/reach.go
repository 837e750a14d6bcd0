package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Cluster is the conductors of a cluster, as this one sees them.
type Cluster interface {
	// Groups are the conductor groups with conductors, dead ones included, except the default group.
	Groups() []string
	// Led reports whether a group has a leader.
	Led(group string) bool
	// Looked is closed when the cluster was looked at again.
	Looked() <-chan struct{}
}

const (
	patience = 12 * time.Second // for a group without a leader: takeovers take up to 10 s
	unasked  = time.Minute      // after which a group that has no conductor, and no host, is forgotten
)

// reach records since when the leaders of groups cannot be asked, and admits calls in the meantime.
type reach struct {
	cluster Cluster
	log     *slog.Logger

	mu     sync.Mutex
	groups map[string]*trouble
	heard  map[string]time.Time // when each group last answered
}

// newReach makes a reach.
func newReach(cluster Cluster, log *slog.Logger) *reach {
	return &reach{cluster: cluster, log: log, groups: map[string]*trouble{}, heard: map[string]time.Time{}}
}

// trouble is the state of a group with a leader that does not answer.
type trouble struct {
	gate
	since time.Time
	last  time.Time // when a call last failed; zero for none since the last answer
	asked time.Time // time of the last question about the group
	told  bool      // that the group is away
}

// stale reports whether failed calls no longer count: the last one is long ago.
func (t *trouble) stale(now time.Time) bool {
	return !t.told && t.probe.IsZero() && now.Sub(t.last) > patience
}

// errSilent is why a call is not made.
var errSilent = errors.New("its leader has just not answered, and is asked again by one call at a time")

// begin admits a call to a group, or refuses it. end is to be called once the call has ended.
func (r *reach) begin(group string) (end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.groups[group]
	if t == nil {
		return func() {}, nil
	}
	now := time.Now()
	switch t.admit(now) {
	case refused:
		return nil, errSilent
	case probe:
		return func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			t.probed(now)
		}, nil
	default:
		return func() {}, nil
	}
}

// failed records a call that began then, and failed. Where a later call was answered, it does not count against the
// group. A leader that answers, and does not serve, is asked by all hosts until it takes longer than a takeover.
func (r *reach) failed(group string, began time.Time, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard[group].After(began) {
		r.log.Warn("a host's node was not acted on, while other nodes were; tried again", "group", group, "err", why)
		return
	}
	now, t := time.Now(), r.trouble(group)
	t.asked = now
	if !r.cluster.Led(group) { // there is no leader to be silent
		return
	}
	first := t.last.IsZero() || t.stale(began)
	if first {
		t.since = began
	}
	t.last = now
	var unserved *UnservedError
	closes := !errors.As(why, &unserved) || now.Sub(t.since) >= patience
	if first || closes && !t.silent {
		r.log.Warn("a host's node was not acted on; tried again until its group's leader answers", "group", group, "err", why)
	}
	if closes {
		t.failed(now)
	}
}

// answered records an answered call, or a new leader: calls that began before no longer count.
func (r *reach) answered(group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[group] = time.Now()
	if t := r.groups[group]; t != nil { // if the trouble was reported, watch reports its end
		t.answered()
		t.since, t.last = time.Now(), time.Time{}
		if !t.told {
			delete(r.groups, group)
		}
	}
}

// trouble is the group's trouble, which begins now where there is none. The lock is held.
func (r *reach) trouble(group string) *trouble {
	t := r.groups[group]
	if t == nil {
		t = &trouble{since: time.Now(), asked: time.Now()}
		r.groups[group] = t
	}
	return t
}

// silent reports whether the leader of a group has just not answered.
func (r *reach) silent(group string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.groups[group]
	return t != nil && t.silent
}

// away is the reason why a group cannot be asked for longer than a takeover takes.
func (r *reach) away(group string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := r.awayLocked(group)
	if t := r.groups[group]; t != nil {
		t.asked = time.Now()
	}
	return why
}

// goesOn reports whether a group has a leader, or had one until just now.
func (r *reach) goesOn(group string) bool { return r.cluster.Led(group) || r.away(group) == "" }

func (r *reach) awayLocked(group string) string {
	led := r.cluster.Led(group)
	if !led {
		r.trouble(group)
	}
	t := r.groups[group]
	switch {
	case t == nil || time.Since(t.since) < patience:
		return ""
	case !led:
		return r.leaderless(group)
	case t.admits(time.Now()) != refused: // a host's own call finds out
		return ""
	}
	return fmt.Sprintf("the conductor that leads the conductor group %q does not answer the leader of the default group, "+
		"whose log says why: see whether the two reach each other at their --cluster-address", group)
}

// leaderless is the message about a group without a leader, with the remedy.
func (r *reach) leaderless(group string) string {
	all := r.cluster.Groups()
	if slices.Contains(all, group) {
		return fmt.Sprintf("no conductor leads the conductor group %q: start or undrain one of its conductors", group)
	}
	known := []string{`""`}
	for _, g := range all {
		known = append(known, fmt.Sprintf("%q", g))
	}
	return fmt.Sprintf("there is no conductor of the conductor group %q (there are %s): start one with --group %s; where "+
		"only the annotation %s names the group, correct it", group, strings.Join(known, ", "), group,
		hostapi.AnnotationGroup)
}

// watch calls changed when a group comes to be away, or is no longer.
func (r *reach) watch(ctx context.Context, changed func(group string)) {
	for {
		next := r.cluster.Looked()
		for _, group := range r.changes() {
			changed(group)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		}
	}
}

// changes are the groups that have become away, or are away no longer. Groups without recent questions are forgotten.
func (r *reach) changes() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.cluster.Groups()
	for _, group := range known {
		r.awayLocked(group)
	}
	now := time.Now()
	for group, t := range r.groups {
		why := r.awayLocked(group)
		if away := why != ""; away != t.told && (away || !t.silent || now.Sub(t.tried) > unasked) {
			t.told = away
			all = append(all, group)
			r.logAway(group, why)
		}
		over := !t.told && t.last.IsZero() || t.stale(now)
		if over && r.cluster.Led(group) || now.Sub(t.asked) > unasked && !slices.Contains(known, group) {
			delete(r.groups, group)
		}
	}
	return all
}

func (r *reach) logAway(group, why string) {
	if why == "" {
		r.log.Info("the conductor group can be asked again: its hosts go on", "group", group)
		return
	}
	r.log.Error("hosts of the conductor group wait", "group", group, "err", why)
}
