package mem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// held finds the effect e while it is held by this very attempt.
func (s *Store) held(e *node.Effect) (*node.Effect, error) {
	h := s.effects[e.ID]
	if h == nil || h.Owner != e.Owner || h.Attempt != e.Attempt {
		return nil, fmt.Errorf("effect %d (%s of node %s, attempt %d): %w", e.ID, e.Name, e.Node, e.Attempt, node.ErrFenced)
	}
	return h, nil
}

func (c *change) dropEffect(e *node.Effect) {
	s := c.s
	delete(s.effects, e.ID)
	delete(s.pending, e.Node)
	c.did(func() { s.effects[e.ID], s.pending[e.Node] = e, e })
}

func (c *change) insertEffect(e node.Effect) error {
	s := c.s
	if s.pending[e.Node] != nil {
		return fmt.Errorf("node %s has a pending effect already, %s cannot be added: %w", e.Node, e.Name, node.ErrConflict)
	}
	if s.nodes.rows[e.Node] == nil {
		return noNode(e.Node)
	}
	s.lastID++
	kept := &node.Effect{
		ID: s.lastID, Node: e.Node, Generation: e.Generation, Name: e.Name,
		Args: rawCopy(e.Args), RunAt: micro(e.RunAt),
	}
	s.effects[kept.ID], s.pending[e.Node] = kept, kept
	c.did(func() {
		delete(s.effects, kept.ID)
		delete(s.pending, e.Node)
		s.lastID--
	})
	return nil
}

// hurry makes the effect of a node due, unless a worker has claimed it.
func (c *change) hurry(nodeUUID string) {
	e := c.s.pending[nodeUUID]
	if e == nil || e.Owner != "" {
		return
	}
	was := e.RunAt
	e.RunAt = time.Time{}
	c.did(func() { e.RunAt = was })
}

// PendingEffect returns the pending effect of a node.
func (s *Store) PendingEffect(ctx context.Context, nodeUUID string) (*node.Effect, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	e := s.pending[nodeUUID]
	if e == nil {
		return nil, nil
	}
	c := copyEffect(e)
	return &c, nil
}

// NodesWithEffects returns the nodes that have a pending effect.
func (s *Store) NodesWithEffects(ctx context.Context) ([]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var uuids []string
	for uuid, e := range s.pending {
		if e != nil {
			uuids = append(uuids, uuid)
		}
	}
	return uuids, nil
}

func copyEffect(e *node.Effect) node.Effect {
	c := *e
	c.Args, c.Accepted = rawCopy(e.Args), maps.Clone(e.Accepted)
	return c
}

// Unclaimed lists the effects without a valid lease.
func (s *Store) Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now = micro(now)
	var all []node.Effect
	for _, e := range s.effects {
		if !e.LeaseUntil.After(now) {
			all = append(all, node.Effect{ID: e.ID, Node: e.Node, Name: e.Name, RunAt: e.RunAt})
		}
	}
	slices.SortFunc(all, func(a, b node.Effect) int {
		return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Claim leases the effects of nodes, as far as they are due.
func (s *Store) Claim(
	ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string,
) ([]node.Effect, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	until := micro(now.Add(lease))
	now = micro(now)
	var due []*node.Effect
	for _, uuid := range nodes {
		if e := s.pending[uuid]; e != nil && !e.RunAt.After(now) && !e.LeaseUntil.After(now) && !slices.Contains(due, e) {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *node.Effect) int {
		return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.ID, b.ID))
	})
	var got []node.Effect
	for _, e := range due {
		e.Owner, e.Attempt, e.LeaseUntil = owner, e.Attempt+1, until
		got = append(got, copyEffect(e))
	}
	return got, nil
}

// Renew prolongs a lease.
func (s *Store) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	h, err := s.held(&e)
	if err != nil {
		return err
	}
	h.LeaseUntil = micro(until)
	return nil
}

// Note keeps the accepted actions of an effect, and the reason for which it waits.
func (s *Store) Note(ctx context.Context, e node.Effect) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	h, err := s.held(&e)
	if err != nil {
		return err
	}
	h.Accepted, h.Error = maps.Clone(e.Accepted), e.Error
	return nil
}

// Release gives an effect back.
func (s *Store) Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	h, err := s.held(&e)
	if err != nil {
		return err
	}
	h.Owner, h.LeaseUntil, h.RunAt, h.Error = "", time.Time{}, micro(runAt), why
	return nil
}

// Takeover voids every lease of owner.
func (s *Store) Takeover(ctx context.Context, owner string, now time.Time) (int, error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.effects {
		if e.Owner == owner && owner != "" {
			e.Owner, e.LeaseUntil = "", time.Time{}
			n++
		}
		if e.RunAt.After(micro(now.Add(store.FurthestDue))) {
			e.RunAt = micro(now)
		}
	}
	return n, nil
}
