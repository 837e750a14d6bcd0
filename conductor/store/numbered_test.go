package store_test

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// numbered numbers effects without gaps, as mem does: PostgreSQL spends an id on an effect that it refuses.
type numbered struct {
	*store.Database
	ours, real map[int64]int64
}

func (s *numbered) number(e *node.Effect) {
	if s.ours[e.ID] == 0 {
		s.ours[e.ID] = int64(len(s.ours) + 1)
		s.real[s.ours[e.ID]] = e.ID
	}
	e.ID = s.ours[e.ID]
}

func (s *numbered) Commit(ctx context.Context, c node.Change) (node.Node, error) {
	if c.Finish != nil {
		e := *c.Finish
		e.ID = s.real[e.ID]
		c.Finish = &e
	}
	n, err := s.Database.Commit(ctx, c)
	for i := range c.Effects {
		if err == nil {
			_, err = s.PendingEffect(ctx, c.Effects[i].Node)
		}
	}
	return n, err
}

func (s *numbered) PendingEffect(ctx context.Context, uuid string) (*node.Effect, error) {
	e, err := s.Database.PendingEffect(ctx, uuid)
	if e != nil {
		s.number(e)
	}
	return e, err
}

func (s *numbered) Unclaimed(ctx context.Context, now time.Time) ([]node.Effect, error) {
	all, err := s.Database.Unclaimed(ctx, now)
	for i := range all {
		s.number(&all[i])
	}
	return all, err
}

func (s *numbered) Claim(
	ctx context.Context, owner string, now time.Time, lease time.Duration, nodes []string,
) ([]node.Effect, error) {
	all, err := s.Database.Claim(ctx, owner, now, lease, nodes)
	for i := range all {
		s.number(&all[i])
	}
	return all, err
}

func (s *numbered) Renew(ctx context.Context, e node.Effect, until time.Time) error {
	e.ID = s.real[e.ID]
	return s.Database.Renew(ctx, e, until)
}

func (s *numbered) Release(ctx context.Context, e node.Effect, runAt time.Time, why string) error {
	e.ID = s.real[e.ID]
	return s.Database.Release(ctx, e, runAt, why)
}
