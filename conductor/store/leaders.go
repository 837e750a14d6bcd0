package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// over is true when a leadership has expired, by the database's clock. A leadership lasts seconds. If more than a
// minute is left, it was taken or renewed before that clock was set back.
const over = "(until < clock_timestamp() OR isfinite(until) AND until > clock_timestamp() + interval '1 minute')"

// Take gives a group to a member for a time. The group must have no leader, or the member must have led it in an
// earlier life. Take begins an epoch, and waits for pending writes of the last epoch. ok is false when another member
// leads the group, or when a newer build has migrated the schema.
func (m *Members) Take(
	ctx context.Context, group, member string, hold time.Duration,
) (epoch int64, ok bool, err error) {
	if _, err := m.db.ExecContext(ctx,
		"INSERT INTO leader (conductor_group, epoch, holder) VALUES ($1, 0, '') ON CONFLICT DO NOTHING", group); err != nil {
		return 0, false, fmt.Errorf("lead the group %q: %w", group, err)
	}
	if err := m.endTerm(ctx, group, member); err != nil {
		return 0, false, fmt.Errorf("end the last term of the group %q: %w", group, err)
	}
	err = m.db.QueryRowContext(ctx, `UPDATE leader SET epoch = epoch + 1, holder = $2,
		until = clock_timestamp() + $3 * interval '1 microsecond'
		WHERE conductor_group = $1 AND (`+over+` OR holder = $2) AND NOT `+newer+`$4) RETURNING epoch`,
		group, member, hold.Microseconds(), m.known).Scan(&epoch)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("lead the group %q: %w", group, err)
	}
	return epoch, true, nil
}

const termSessions = " FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"

// endTerm ends the connections of a group's last leader, if its time is over. A leader that is frozen or cut off would
// keep them, beside the next leader's, with locks that block a takeover.
func (m *Members) endTerm(ctx context.Context, group, member string) error {
	var epoch int64
	err := m.db.QueryRowContext(ctx, `SELECT epoch FROM leader WHERE conductor_group = $1
		AND (`+over+` OR holder = $2)`, group, member).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	name := termName(m.config.RuntimeParams["search_path"], group, epoch)
	var ended string
	if err == nil {
		err = m.db.QueryRowContext(ctx, "SELECT coalesce(string_agg(pid::text, ',') FILTER (WHERE "+
			"pg_terminate_backend(pid)), '')"+termSessions, name).Scan(&ended)
	}
	// Wait only for the connections that were ended: a leader that does not know yet that its time is over connects
	// again and again.
	for left := 1; err == nil && left > 0; {
		err = m.db.QueryRowContext(ctx, "SELECT count(*)"+termSessions+
			" AND pid = ANY (string_to_array($2, ',')::integer[])", name, ended).Scan(&left)
		if err == nil && left > 0 {
			err = pause(ctx, shortestWait)
		}
	}
	if sqlState(err) == insufficientPrivilege { // of another role: the timeouts of connections end them
		return nil
	}
	return err
}

// Renew prolongs a leadership; ErrSuperseded when it was given back or taken, or a newer build has changed the schema.
// That its time has passed by the database's clock alone does not end it: that clock may have been set.
func (m *Members) Renew(ctx context.Context, group string, epoch int64, hold time.Duration) error {
	ok, err := touchedOne(m.db.ExecContext(ctx, `UPDATE leader
		SET until = clock_timestamp() + $3 * interval '1 microsecond'
		WHERE conductor_group = $1 AND epoch = $2 AND until > '-infinity' AND NOT `+newer+`$4)`,
		group, epoch, hold.Microseconds(), m.known))
	if err == nil && !ok {
		err = ErrSuperseded
	}
	if err != nil {
		return fmt.Errorf("go on leading the group %q: %w", group, err)
	}
	return nil
}

// Release gives a group back, if it is led in this epoch still. It waits for no writes that are under way: Take does.
func (m *Members) Release(ctx context.Context, group string, epoch int64) error {
	const release = "UPDATE leader SET until = '-infinity' WHERE conductor_group = $1 AND epoch = $2"
	_, err := m.db.ExecContext(ctx, release, group, epoch)
	if err != nil {
		return fmt.Errorf("give the group %q back: %w", group, err)
	}
	return nil
}

// GroupOf is the conductor group of a node, by its UUID or name; false when there is no such node.
func (m *Members) GroupOf(ctx context.Context, ref string) (group string, found bool, err error) {
	return m.group(ctx, "SELECT conductor_group FROM nodes WHERE uuid = $1 OR name = $1 AND name <> '' "+
		"ORDER BY uuid <> $1 LIMIT 1", cleanText(ref))
}

// GroupOfPort is the conductor group of the node that has a port, by the port's UUID, name or address.
func (m *Members) GroupOfPort(ctx context.Context, ref string) (group string, found bool, err error) {
	return m.group(ctx, "SELECT n.conductor_group FROM ports p JOIN nodes n ON n.uuid = p.node_uuid "+
		"WHERE p.uuid = $1 OR p.address = $2 LIMIT 1", cleanText(ref), cleanText(strings.ToLower(ref)))
}

// GroupOfAllocation is the conductor group of the node that an allocation has, by the allocation's UUID or name.
func (m *Members) GroupOfAllocation(ctx context.Context, ref string) (group string, found bool, err error) {
	return m.group(ctx, "SELECT n.conductor_group FROM allocations a JOIN nodes n ON n.uuid = a.node_uuid "+
		"WHERE a.uuid = $1 OR a.name = $1 ORDER BY a.uuid <> $1 LIMIT 1", cleanText(ref))
}

func (m *Members) group(ctx context.Context, text string, args ...any) (group string, found bool, err error) {
	err = m.db.QueryRowContext(ctx, text, args...).Scan(&group)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look up a conductor group: %w", err)
	}
	return group, true, nil
}

func touchedOne(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

func joined(words []string) string { return strings.Join(words, " ") }
func split(text string) []string   { return strings.Fields(text) }
