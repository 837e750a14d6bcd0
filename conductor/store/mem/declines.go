package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Declines returns the addresses that machines found in use by others.
func (s *Store) Declines(ctx context.Context) ([]node.Decline, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.declines), nil
}

// SaveDecline keeps a declined address from being leased until d.Until. It ends the lease of the machine that declined
// it, and deletes expired declines.
func (s *Store) SaveDecline(ctx context.Context, d node.Decline, now time.Time) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if l := s.leases[d.MAC]; l.IP == d.IP && l.Subnet == d.Subnet && !l.Static {
		delete(s.leases, d.MAC)
	}
	s.declines = slices.DeleteFunc(s.declines, func(o node.Decline) bool {
		return !o.Until.After(micro(now)) || o.IP == d.IP && o.Subnet == d.Subnet
	})
	d.Until = micro(d.Until)
	s.declines = append(s.declines, d)
	slices.SortFunc(s.declines, func(a, b node.Decline) int {
		return cmp.Or(cmp.Compare(a.Subnet, b.Subnet), cmp.Compare(a.IP, b.IP))
	})
	return nil
}
