package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

const listLeases = "SELECT mac, subnet, ip, static, expires FROM leases"

// Leases returns all DHCP leases in the order of their MACs.
func (s *Database) Leases(ctx context.Context) ([]node.Lease, error) {
	return s.leases(ctx, newQuery(s.dialect, listLeases))
}

// LeasesOf lists the leases of MACs or of an address. A large site has too many leases to read all of them for one
// machine.
func (s *Database) LeasesOf(ctx context.Context, macs []string, ip string) ([]node.Lease, error) {
	q := newQuery(s.dialect, listLeases)
	if ip == "" {
		q.whereAmong("mac", macs)
	} else {
		q.where("(mac IN ("+q.among+") OR ip = ?)", q.list(macs), ip)
	}
	return s.leases(ctx, q)
}

func (s *Database) leases(ctx context.Context, q *query) (all []node.Lease, err error) {
	q.add(" ORDER BY mac")
	err = s.read.list(ctx, q, func(rows *sql.Rows) error {
		var l node.Lease
		var expires int64
		if err := rows.Scan(&l.MAC, &l.Subnet, &l.IP, &l.Static, &expires); err != nil {
			return err
		}
		l.Expires = fromMicros(expires)
		all = append(all, l)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	return all, nil
}

// SaveLease inserts or replaces the leases of MACs, all or none; a lent one leaves a
// reservation alone.
func (s *Database) SaveLease(ctx context.Context, leases ...node.Lease) error {
	return s.w.do(freeing(ctx), func(t *tx) error {
		for _, l := range leases {
			if err := t.saveLease(l); err != nil {
				return fmt.Errorf("save the lease of %s: %w", l.MAC, err)
			}
		}
		return nil
	})
}

func (t *tx) saveLease(l node.Lease) error {
	touched, err := t.exec(`INSERT INTO leases (mac, subnet, ip, static, expires) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (mac) DO UPDATE SET subnet = excluded.subnet, ip = excluded.ip, static = excluded.static,
			expires = excluded.expires
		WHERE excluded.static OR NOT leases.static`,
		l.MAC, l.Subnet, l.IP, l.Static, micros(l.Expires))
	if _, ok := taken(err); ok {
		return node.Refuse(node.Conflict, "The address %s is leased to another MAC than %s.", l.Where(), l.MAC)
	}
	if err == nil && touched == 0 {
		return node.Refuse(node.Conflict, "%s has an address reserved and is lent no other one.", l.MAC)
	}
	return err
}

// EndLease removes a lease that is on record as it was read.
func (s *Database) EndLease(ctx context.Context, l node.Lease) error {
	err := s.w.do(freeing(ctx), func(t *tx) error {
		_, err := t.exec("DELETE FROM leases WHERE mac = ? AND subnet = ? AND ip = ? AND NOT static AND expires <= "+
			"?", l.MAC,
			l.Subnet, l.IP, micros(l.Expires))
		return err
	})
	if err != nil {
		return fmt.Errorf("end the lease of %s: %w", l.MAC, err)
	}
	return nil
}

// DeleteLease removes the lease of a MAC.
func (s *Database) DeleteLease(ctx context.Context, mac string) error {
	return s.w.do(freeing(ctx), func(t *tx) error {
		touched, err := t.exec("DELETE FROM leases WHERE mac = ?", mac)
		if err == nil && touched == 0 {
			return node.Refuse(node.NotFound, "There is no lease of %s.", mac)
		}
		return err
	})
}
