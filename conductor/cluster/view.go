package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

// givenBack is the end on record of a leadership that was given back.
const givenBack = "-infinity"

// View is the cluster as a member saw it last.
type View struct {
	Members []store.Member
	leaders []store.Leader
	at      time.Time // before the database was asked; zero for never
}

// Leader is the member that leads a group, and the epoch of that; false when there is none.
func (v *View) Leader(group string) (store.Member, int64, bool) {
	for _, l := range v.leaders {
		if l.Group != group || l.Left-time.Since(v.at) <= 0 {
			continue
		}
		if i := slices.IndexFunc(v.Members, func(m store.Member) bool { return m.Name == l.Holder }); i >= 0 {
			return v.Members[i], l.Epoch, true
		}
	}
	return store.Member{}, 0, false
}

// goOnFrom measures the rest of leaderships by the local clock, because the database's clock may have been set. It
// counts from the view that first showed a renewal. The leader counts from before it asked for that renewal, so it
// stops before another leader begins. A leadership that was given back is over at once.
func (v *View) goOnFrom(last *View) {
	for i := range v.leaders {
		l := &v.leaders[i]
		if l.Until == givenBack {
			continue
		}
		l.Left = holdTime
		for _, was := range last.leaders {
			if was.Group == l.Group && was.Epoch == l.Epoch && was.Until == l.Until {
				l.Left = was.Left - v.at.Sub(last.at)
			}
		}
	}
}

// Leads reports whether a member leads its group.
func (v *View) Leads(m store.Member) bool {
	leader, _, ok := v.Leader(m.Group)
	return ok && leader.Name == m.Name
}

// free reports whether a member can take a group: it has no leader, or the member led it in an earlier life.
func (v *View) free(group, member string) bool {
	leader, _, led := v.Leader(group)
	return !led || leader.Name == member
}

// several reports whether there is more than one group.
func (v *View) several() bool {
	for _, m := range v.Members {
		if m.Group != "" && m.Alive {
			return true
		}
	}
	return false
}

// goneAfter is how long a member without a sign of life may still have connections: it is frozen, or cut off.
const goneAfter = 10 * time.Minute

// Size counts the members that may have connections to the database, and their groups, the default group among them.
func (v *View) Size() (members, groups int) {
	var newest time.Time
	for _, m := range v.Members {
		if m.Seen.After(newest) {
			newest = m.Seen // by the database's clock, as all are
		}
	}
	names := map[string]bool{"": true}
	for _, m := range v.Members {
		if m.Alive || newest.Sub(m.Seen) < goneAfter {
			members++
			names[m.Group] = true
		}
	}
	return members, len(names)
}

// GroupOf is the group of a member; false when there is no such member.
func (v *View) GroupOf(name string) (group string, known bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Group, true
		}
	}
	return "", false
}

// Known reports whether a conductor of a group is alive.
func (v *View) Known(group string) bool {
	return slices.ContainsFunc(v.Members, func(m store.Member) bool { return m.Group == group && m.Alive })
}

// Candidates reports whether a living member of a group, other than one, may lead it.
func (v *View) Candidates(group, but string) bool {
	return slices.ContainsFunc(v.Members, func(m store.Member) bool {
		return m.Group == group && m.Alive && !m.Drained && m.Name != but
	})
}

// Groups are the conductor groups of all members but the default one, in order.
func (v *View) Groups() (all []string) {
	for _, m := range v.Members {
		if m.Group != "" && !slices.Contains(all, m.Group) {
			all = append(all, m.Group)
		}
	}
	slices.Sort(all)
	return all
}

// Leading are the conductor groups of all members, with the default one; true for those that a member leads.
func (v *View) Leading(member string) map[string]bool {
	all := map[string]bool{"": false}
	for _, m := range v.Members {
		all[m.Group] = false
	}
	for group := range all {
		leader, _, led := v.Leader(group)
		all[group] = led && leader.Name == member
	}
	return all
}

// Reached is an error when the database did not answer of late.
func (v *View) Reached() error {
	if !v.fresh() {
		return fmt.Errorf("the database has not answered for %s", validTime)
	}
	return nil
}

// fresh reports whether the view is recent enough to be shown as the current state.
func (v *View) fresh() bool { return !v.at.IsZero() && time.Since(v.at) < validTime }
