package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Declines returns the addresses that machines found in use by others.
func (s *Database) Declines(ctx context.Context) (all []node.Decline, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		var d node.Decline
		var until int64
		if err := rows.Scan(&d.MAC, &d.Subnet, &d.IP, &d.Stranger, &until); err != nil {
			return err
		}
		d.Until = fromMicros(until)
		all = append(all, d)
		return nil
	}, "SELECT mac, subnet, ip, stranger, until FROM declines ORDER BY subnet, ip")
	if err != nil {
		return nil, fmt.Errorf("list declined addresses: %w", err)
	}
	return all, nil
}

// SaveDecline keeps a declined address from being leased until d.Until. It ends the lease of the machine that declined
// it, and deletes expired declines.
func (s *Database) SaveDecline(ctx context.Context, d node.Decline, now time.Time) error {
	err := s.w.do(ctx, func(t *tx) error {
		if _, err := t.exec("DELETE FROM declines WHERE until <= ?", micros(now)); err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM leases WHERE mac = ? AND subnet = ? AND ip = ? AND NOT static", d.MAC, d.Subnet,
			d.IP); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO declines (subnet, ip, mac, stranger, until) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (subnet, ip) DO UPDATE SET mac = excluded.mac, stranger = excluded.stranger, until = excluded.until`,
			d.Subnet, d.IP, d.MAC, d.Stranger, micros(d.Until))
		return err
	})
	if err != nil {
		return fmt.Errorf("set %s aside, which %s declined: %w", d.IP, d.MAC, err)
	}
	return nil
}
