package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// AliveFor is how long a member counts as alive after its last sign of life.
const AliveFor = 6 * time.Second

// Member is a conductor of a cluster.
type Member struct {
	Name          string
	Instance      string // sets members of one name apart: a word of the data folder, a space, a word of the process
	Group         string
	Address       string // where it accepts forwarded requests, host:port
	HardwareTypes []string

	Drained       bool
	Created, Seen time.Time
	Alive         bool // as the database's clock has it
}

// Leader is the current or last leader of a group.
type Leader struct {
	Group, Holder string
	Epoch         int64
	Left          time.Duration // until it can be taken; at most 0: now
	Until         string        // the end on record, which a renewal changes
}

// Members are the tables by which the conductors of a cluster know each other. Every call is one short transaction.
type Members struct {
	config *pgx.ConnConfig
	db     *sql.DB
	known  int64 // version of the newest schema that this build knows

	mu    sync.Mutex
	lock  *pgx.Conn // holds the lock of conductors together with other members
	alone bool      // lock also holds the lock of this member's name
}

// OpenMembers opens the database of a cluster, and migrates its schema; a migration ends the terms of leaders with an
// older schema. It refuses a database in use by a conductor without a cluster (ErrInUse), and the schema of a newer
// build. It forgets members that were not seen for 30 days and are not drained.
func OpenMembers(ctx context.Context, address string, o PostgresOptions) (*Members, error) {
	name := PostgresName(address)
	config, err := postgresConfig(address, o)
	if err != nil {
		return nil, err
	}
	m := &Members{config: quickly(config)}
	if err := m.open(ctx, config, o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, errors.Join(full(err), m.Close()))
	}
	return m, nil
}

func (m *Members) open(ctx context.Context, config *pgx.ConnConfig, o PostgresOptions) error {
	if err := m.Hold(ctx); err != nil {
		return err
	}
	m.db = postgresPool(m.config, memberConnections-1) // one holds the lock
	known, err := newestIn(postgresMigrations, "migrations/postgres")
	if err != nil {
		return err
	}
	m.known = known
	before, err := migrateAlone(ctx, config)
	if err != nil {
		return err
	}
	ended := "until = 'infinity'" // a conductor without a cluster that was cut off must not write from now on
	if before < known {
		ended = "true" // nor a leader of an older build: it cannot take a group again
	}
	if _, err := m.db.ExecContext(ctx, "DELETE FROM members WHERE NOT drained AND greatest(seen, created) < "+
		"clock_timestamp() - interval '30 days'"); err != nil {
		return err
	}
	_, err = m.db.ExecContext(ctx, "UPDATE leader SET epoch = epoch + 1, until = '-infinity' WHERE "+ended)
	return err
}

// newer is whether the schema is newer than a build knows.
const newer = "EXISTS (SELECT FROM goose_db_version WHERE is_applied AND version_id > "

// Behind reports whether the schema is newer than this build knows: it may lead no longer.
func (m *Members) Behind(ctx context.Context) (behind bool, err error) {
	if err := m.db.QueryRowContext(ctx, "SELECT "+newer+"$1)", m.known).Scan(&behind); err != nil {
		return false, fmt.Errorf("read the schema's version: %w", err)
	}
	return behind, nil
}

// Hold takes or keeps the lock that keeps conductors without a cluster away.
func (m *Members) Hold(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lock != nil && m.lock.Ping(ctx) == nil {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, m.config)
	if err != nil {
		return err
	}
	free, err := tryLock(ctx, conn, "SELECT pg_try_advisory_lock_shared($1, hashtext(current_schema()))")
	if err == nil && !free {
		err = fmt.Errorf("%w without --cluster-key-file: %s; stop that conductor first", ErrInUse,
			(&leadership{conn: conn}).holder(ctx))
	}
	if err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	if m.lock != nil {
		_ = m.lock.Close(ctx) // it did not answer
	}
	m.lock, m.alone = conn, false
	return nil
}

// ErrNameTaken refuses a member with the name of another living conductor.
var ErrNameTaken = errors.New("another conductor of that name is alive")

// ErrFolderTaken refuses a member with the data folder of a living conductor, or a copy of it. It is an ErrNameTaken.
var ErrFolderTaken = fmt.Errorf("%w, with this data folder or a copy of it", ErrNameTaken)

// alive is true when a member was seen of late, by the database's clock. A time in the future is from before that clock
// was set back.
var alive = fmt.Sprintf("members.seen BETWEEN clock_timestamp() - interval '%[1]d seconds' AND "+
	"clock_timestamp() + interval '%[1]d seconds'", AliveFor/time.Second)

// Beat notes that a member is alive, and returns whether it is drained. A process that has ended has given back the
// lock of its name: the next one with its data folder need not wait until it counts as gone.
func (m *Members) Beat(ctx context.Context, member Member) (drained bool, err error) {
	alone, err := m.takeName(ctx, member.Name)
	if err != nil {
		return false, err
	}
	const folder = "split_part(members.instance, ' ', 1) = split_part(excluded.instance, ' ', 1)"
	err = m.db.QueryRowContext(ctx, `INSERT INTO members (name, instance, conductor_group, address, hardware_types)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO UPDATE SET instance = excluded.instance,
			conductor_group = excluded.conductor_group, address = excluded.address,
			hardware_types = excluded.hardware_types, seen = clock_timestamp()
		WHERE members.instance = excluded.instance OR NOT `+alive+` OR $6 AND `+folder+` RETURNING drained`,
		member.Name, member.Instance, member.Group, member.Address, joined(member.HardwareTypes), alone).Scan(&drained)
	if errors.Is(err, sql.ErrNoRows) {
		var same bool
		const ask = "SELECT split_part(instance, ' ', 1) = split_part($2, ' ', 1) FROM members WHERE name = $1"
		if m.db.QueryRowContext(ctx, ask, member.Name, member.Instance).Scan(&same) == nil && same {
			return false, fmt.Errorf("%w: %s; remove conductor-id from the copy, and give it a --host of its own",
				ErrFolderTaken, member.Name)
		}
		return false, fmt.Errorf("%w: %s; give each conductor a --host of its own", ErrNameTaken, member.Name)
	}
	return drained, err
}

// takeName reports whether no other process has a connection with this member's name.
func (m *Members) takeName(ctx context.Context, name string) (alone bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.alone && m.lock != nil {
		const try = "SELECT pg_try_advisory_lock($1, hashtext(current_schema() || ' ' || $2))"
		if err := m.lock.QueryRow(ctx, try, conductorLock+1, name).Scan(&m.alone); err != nil {
			return false, fmt.Errorf("take the name %s: %w", name, err)
		}
	}
	return m.alone, nil
}

// Leave records an orderly end, so that other members forward nothing to this one.
func (m *Members) Leave(ctx context.Context, name, instance string) error {
	const leave = "UPDATE members SET seen = '-infinity' WHERE name = $1 AND instance = $2"
	_, err := m.db.ExecContext(ctx, leave, name, instance)
	return err
}

// Drain sets whether a member may lead; false when there is no such member.
func (m *Members) Drain(ctx context.Context, name string, drained bool) (found bool, err error) {
	return touchedOne(m.db.ExecContext(ctx, "UPDATE members SET drained = $2 WHERE name = $1", name, drained))
}

// Look lists the members by name, and the leaders by group.
func (m *Members) Look(ctx context.Context) (members []Member, leaders []Leader, err error) {
	rows, err := m.db.QueryContext(ctx, `SELECT name, instance, conductor_group, address, hardware_types, drained, created,
		greatest(seen, created), `+alive+` FROM members ORDER BY name`)
	if err == nil {
		err = eachRow(rows, func(rows *sql.Rows) error {
			var r Member
			var types string
			err := rows.Scan(&r.Name, &r.Instance, &r.Group, &r.Address, &types, &r.Drained, &r.Created, &r.Seen, &r.Alive)
			r.HardwareTypes = split(types)
			members = append(members, r)
			return err
		})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the conductors: %w", err)
	}
	rows, err = m.db.QueryContext(ctx, `SELECT conductor_group, epoch, holder, until::text, CASE WHEN isfinite(until) THEN
		(extract(epoch FROM until - clock_timestamp()) * 1000000)::bigint ELSE 0 END FROM leader ORDER BY conductor_group`)
	if err == nil {
		err = eachRow(rows, func(rows *sql.Rows) error {
			var l Leader
			var left int64
			err := rows.Scan(&l.Group, &l.Epoch, &l.Holder, &l.Until, &left)
			l.Left = time.Duration(left) * time.Microsecond
			leaders = append(leaders, l)
			return err
		})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the leaders: %w", err)
	}
	return members, leaders, nil
}

// Close closes the connections.
func (m *Members) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	if m.db != nil {
		errs = append(errs, m.db.Close())
	}
	if m.lock != nil {
		ctx, cancel := context.WithTimeout(context.Background(), frozenTime)
		defer cancel()
		errs = append(errs, m.lock.Close(ctx))
	}
	return errors.Join(errs...)
}

// LocalAddress is this host's address on the way to the database, "" where that is a socket of this host.
func (m *Members) LocalAddress() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lock == nil {
		return ""
	}
	at, ok := m.lock.PgConn().Conn().LocalAddr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	return at.IP.String()
}
