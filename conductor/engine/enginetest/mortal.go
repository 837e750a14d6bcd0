package enginetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Mortal is a store that a dead process cannot reach.
type Mortal struct {
	store.Store
	ledger *Ledger
	Dead   atomic.Bool
	gate   atomic.Pointer[chan struct{}] // closed when a frozen process goes on
	moved  func([]node.Transition)
	// cut cuts the conductor off its database, heal lets it in again, closed gives it back.
	cut, heal, closed func()
}

// wait waits while the process is frozen.
func (m *Mortal) wait() {
	if gate := m.gate.Load(); gate != nil {
		<-*gate
	}
}

func (m *Mortal) frozen() bool {
	gate := m.gate.Load()
	if gate == nil {
		return false
	}
	select {
	case <-*gate:
		return false
	default:
		return true
	}
}

var errDead = errors.New("this conductor is dead")

// Commit writes by the ledger.
func (m *Mortal) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	m.wait()
	if m.Dead.Load() {
		return node.Node{}, errDead
	}
	n, err := m.ledger.commit(m, c)
	if err == nil {
		m.moved(c.Moves)
	}
	return n, err
}

// Release writes by the ledger.
func (m *Mortal) Release(ctx context.Context, e node.Effect, at time.Time, why string) error {
	if m.Dead.Load() {
		return errDead
	}
	return m.ledger.release(m, func(d *heldEffect) bool { return d.effect.ID == e.ID },
		func() error { return m.Store.Release(ctx, e, at, why) })
}

// Note fails once the process is dead.
func (m *Mortal) Note(ctx context.Context, e node.Effect) error {
	m.wait()
	if m.Dead.Load() {
		return errDead
	}
	return m.Store.Note(ctx, e)
}

// Claim writes by the ledger.
func (m *Mortal) Claim(_ context.Context, owner string, now time.Time, lease time.Duration,
	nodes []string) ([]node.Effect, error) {
	if m.Dead.Load() {
		return nil, errDead
	}
	return m.ledger.claim(m, owner, now, lease, nodes)
}

// Takeover writes by the ledger.
func (m *Mortal) Takeover(ctx context.Context, owner string, now time.Time) (n int, err error) {
	err = m.ledger.release(m, func(*heldEffect) bool {
		return true
	}, func() error { n, err = m.Store.Takeover(ctx, owner, now); return err })
	return n, err
}

// OpenedStore is the database of one conductor; cut cuts it off, heal lets it in again.
type OpenedStore struct {
	store.Store
	Cut, Heal func()
}

// reach has a conductor use a database, as long as it is not frozen.
func (m *Mortal) reach(o OpenedStore) store.Store {
	m.cut, m.heal = o.Cut, o.Heal
	m.closed = func() {
		if err := o.Close(); err != nil {
			m.ledger.t.Error(err)
		}
	}
	return o.Store
}
