package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
)

var errCut = errors.New("cut off")

var errTooLate = errors.New("too late")

// rows are the rows of a database in memory, with its clock.
type rows struct {
	mu      sync.Mutex
	members map[string]store.Member
	leaders map[string]store.Leader
	until   map[string]time.Time
	cut     map[string]bool // members that do not reach the database
	newer   map[string]bool // members for which the schema is too new
	groups  map[string]string
	off     time.Duration // of the database's clock
}

func newRows() *rows {
	return &rows{members: map[string]store.Member{}, leaders: map[string]store.Leader{}, until: map[string]time.Time{},
		cut: map[string]bool{}, newer: map[string]bool{}, groups: map[string]string{}}
}

// of are the rows as a member reaches them.
type rowsOf struct {
	*rows
	name string
}

func (r rowsOf) reach() (unlock func(), err error) {
	r.mu.Lock()
	if r.cut[r.name] {
		r.mu.Unlock()
		return nil, errCut
	}
	return r.mu.Unlock, nil
}

func (r rowsOf) Hold(context.Context) error { return nil }

func (r rowsOf) Behind(context.Context) (bool, error) {
	unlock, err := r.reach()
	if err != nil {
		return false, err
	}
	defer unlock()
	return r.newer[r.name], nil
}

func (r rowsOf) Beat(_ context.Context, m store.Member) (bool, error) {
	unlock, err := r.reach()
	if err != nil {
		return false, err
	}
	defer unlock()
	m.Drained, m.Seen = r.members[m.Name].Drained, time.Now().Round(0).Add(r.off)
	r.members[m.Name] = m
	return m.Drained, nil
}

func (r rowsOf) Leave(context.Context, string, string) error { return nil }

func (r rowsOf) Look(context.Context) (members []store.Member, leaders []store.Leader, err error) {
	unlock, err := r.reach()
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	for _, m := range r.members {
		m.Alive = time.Since(m.Seen)+r.off < store.AliveFor
		members = append(members, m)
	}
	for _, l := range r.leaders {
		l.Left, l.Until = time.Until(r.until[l.Group]), r.until[l.Group].String()
		if r.until[l.Group].IsZero() {
			l.Until = givenBack
		}
		leaders = append(leaders, l)
	}
	return members, leaders, nil
}

func (r rowsOf) Take(_ context.Context, group, member string, hold time.Duration) (int64, bool, error) {
	unlock, err := r.reach()
	if err != nil {
		return 0, false, err
	}
	defer unlock()
	l := r.leaders[group]
	if time.Now().Before(r.until[group]) && l.Holder != member {
		return 0, false, nil
	}
	r.leaders[group] = store.Leader{Group: group, Holder: member, Epoch: l.Epoch + 1}
	r.until[group] = time.Now().Add(hold)
	return l.Epoch + 1, true, nil
}

func (r rowsOf) Renew(_ context.Context, group string, epoch int64, hold time.Duration) error {
	unlock, err := r.reach()
	if err != nil {
		return err
	}
	defer unlock()
	if r.leaders[group].Epoch != epoch || time.Now().After(r.until[group]) {
		return errTooLate
	}
	r.until[group] = time.Now().Add(hold)
	return nil
}

func (r rowsOf) Release(_ context.Context, group string, epoch int64) error {
	unlock, err := r.reach()
	if err != nil {
		return err
	}
	defer unlock()
	if r.leaders[group].Epoch == epoch {
		r.leaders[group] = store.Leader{Group: group, Epoch: epoch + 1}
		r.until[group] = time.Time{}
	}
	return nil
}

func (rowsOf) Superseded(err error) bool { return errors.Is(err, errTooLate) }

// GroupOf is the group of a node.
func (r *rows) GroupOf(_ context.Context, ref string) (string, bool, error) {
	group, ok := r.groups[ref]
	return group, ok, nil
}

// GroupOfPort is the group of the node of a port.
func (r *rows) GroupOfPort(_ context.Context, ref string) (string, bool, error) {
	group, ok := r.groups[ref]
	return group, ok, nil
}

// GroupOfAllocation is the group of the node of an allocation.
func (r *rows) GroupOfAllocation(_ context.Context, ref string) (string, bool, error) {
	group, ok := r.groups[ref]
	return group, ok, nil
}

// seen is when a member has shown its last sign of life.
func (r *rows) seen(name string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members[name].Seen
}

func (r *rows) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
