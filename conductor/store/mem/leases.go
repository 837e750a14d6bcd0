package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Leases returns all DHCP leases in the order of their MACs.
func (s *Store) Leases(ctx context.Context) ([]node.Lease, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []node.Lease
	for _, mac := range slices.Sorted(maps.Keys(s.leases)) {
		all = append(all, s.leases[mac])
	}
	return all, nil
}

// LeasesOf lists the leases of MACs and of an address.
func (s *Store) LeasesOf(ctx context.Context, macs []string, ip string) ([]node.Lease, error) {
	all, err := s.Leases(ctx)
	return slices.DeleteFunc(all, func(l node.Lease) bool {
		return !slices.Contains(macs, l.MAC) && (ip == "" || l.IP != ip)
	}), err
}

// SaveLease inserts or replaces the leases of MACs, all or none; a lent one leaves a
// reservation alone.
func (s *Store) SaveLease(ctx context.Context, leases ...node.Lease) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	was := maps.Clone(s.leases)
	for _, l := range leases {
		if err := s.saveLease(l); err != nil {
			s.leases = was
			return err
		}
	}
	return nil
}

func (s *Store) saveLease(l node.Lease) error {
	for mac, other := range s.leases {
		if mac != l.MAC && other.IP == l.IP && other.Subnet == l.Subnet {
			return fmt.Errorf("save the lease of %s: %w", l.MAC,
				node.Refuse(node.Conflict, "The address %s is leased to another MAC than %s.", l.Where(), l.MAC))
		}
	}
	if s.leases[l.MAC].Static && !l.Static {
		return fmt.Errorf("save the lease of %s: %w", l.MAC,
			node.Refuse(node.Conflict, "%s has an address reserved and is lent no other one.", l.MAC))
	}
	l.Expires = micro(l.Expires)
	s.leases[l.MAC] = l
	return nil
}

// EndLease removes a lease that is on record as it was read.
func (s *Store) EndLease(ctx context.Context, l node.Lease) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	now, ok := s.leases[l.MAC]
	same := ok && now.IP == l.IP && now.Subnet == l.Subnet
	if same && !now.Static && !now.Expires.After(micro(l.Expires)) {
		delete(s.leases, l.MAC)
	}
	return nil
}

// DeleteLease removes the lease of a MAC.
func (s *Store) DeleteLease(ctx context.Context, mac string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.leases[mac]; !ok {
		return node.Refuse(node.NotFound, "There is no lease of %s.", mac)
	}
	delete(s.leases, mac)
	return nil
}
