package remote

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// Room is the conductors of a cluster, as this one sees them.
type Room interface {
	// Groups are the conductor groups beside the default one that have a conductor, dead ones among them.
	Groups() []string
	// Led reports whether a group has a leader.
	Led(group string) bool
	// Looked is closed when the cluster was looked at again.
	Looked() <-chan struct{}
}

const (
	patience = 12 * time.Second // for a group without a leader: takeovers take up to 10 s
	tryAgain = 5 * time.Second  // after a call that failed, while the group has a leader
)

// reach knows since when the leaders of groups cannot be asked.
type reach struct {
	room Room
	log  *slog.Logger

	mu     sync.Mutex
	groups map[string]*trouble
}

// trouble is that of a group.
type trouble struct {
	since  time.Time
	failed string    // why the last call was not answered; "" when none was made
	tried  time.Time // when that was
	told   bool      // that the group is away
}

// failed takes note of a call that was not answered.
func (r *reach) failed(group string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.trouble(group)
	if t.failed == "" {
		r.log.Warn("a host's node was not acted on; tried again until its group's leader answers", "group", group, "err", why)
	}
	t.failed, t.tried = why.Error(), time.Now()
}

// answered takes note of a call that was answered.
func (r *reach) answered(group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.groups[group]; t != nil { // watch tells of it where its end is told
		t.failed, t.since = "", time.Now()
		if !t.told {
			delete(r.groups, group)
		}
	}
}

// trouble is that of a group, which begins now where there is none. The lock is held.
func (r *reach) trouble(group string) *trouble {
	t := r.groups[group]
	if t == nil {
		t = &trouble{since: time.Now()}
		r.groups[group] = t
	}
	return t
}

// away says why a group cannot be asked for longer than a takeover takes.
func (r *reach) away(group string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.awayLocked(group)
}

func (r *reach) awayLocked(group string) string {
	led := r.room.Led(group)
	if !led {
		r.trouble(group)
	}
	t := r.groups[group]
	switch {
	case t == nil || time.Since(t.since) < patience:
		return ""
	case !led:
		return r.leaderless(group)
	case t.failed == "" || time.Since(t.tried) >= tryAgain:
		return ""
	}
	return fmt.Sprintf("the conductor that leads the conductor group %q does not answer the leader of the default group "+
		"(%s): see whether the two reach each other at their --cluster-address", group, t.failed)
}

// leaderless says that nobody leads a group, and what to do.
func (r *reach) leaderless(group string) string {
	all := r.room.Groups()
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
		next := r.room.Looked()
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

// changes are the groups that came to be away, or are no longer.
func (r *reach) changes() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, group := range r.room.Groups() {
		r.awayLocked(group)
	}
	for group, t := range r.groups {
		why := r.awayLocked(group)
		if away := why != ""; away != t.told && (away || t.failed == "") {
			t.told = away
			all = append(all, group)
			r.tell(group, why)
		}
		if !t.told && t.failed == "" && r.room.Led(group) {
			delete(r.groups, group)
		}
	}
	return all
}

func (r *reach) tell(group, why string) {
	if why == "" {
		r.log.Info("the conductor group can be asked again: its hosts go on", "group", group)
		return
	}
	r.log.Error("hosts of the conductor group wait", "group", group, "err", why)
}
