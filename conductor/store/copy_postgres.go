package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

func (s *copySide) postgres() {
	s.dialect, s.ofServer = postgresDialect, true
	s.columnsOf = "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() " +
		"AND table_name = ? AND is_generated = 'NEVER'"
	sequence := func(ctx context.Context, t copiedTable) (name string, err error) {
		err = s.conn.QueryRowContext(ctx, "SELECT pg_get_serial_sequence($1, 'id')", t.name).Scan(&name)
		return name, err
	}
	s.lastID = func(ctx context.Context, t copiedTable) (last int64, err error) {
		name, err := sequence(ctx, t)
		if err != nil {
			return 0, err
		}
		err = s.conn.QueryRowContext(ctx, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM "+name).Scan(&last)
		return last, err
	}
	s.setLastID = func(ctx context.Context, t copiedTable, last int64) error {
		name, err := sequence(ctx, t)
		if err != nil {
			return err
		}
		return s.exec(ctx, "SELECT setval($1, $2)", name, last)
	}
	s.fill = s.copyFrom
}

// copyConfig is the configuration of connections that wait while the other side is at work.
func copyConfig(p Place) (*pgx.ConnConfig, error) {
	config, err := postgresConfig(p.Address, PostgresOptions{Password: p.Password})
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	return config, nil
}

// lead takes the database for the time of the copy.
func (s *copySide) lead(ctx context.Context, p Place) (*leadership, error) {
	s.postgres()
	config, err := copyConfig(p)
	if err != nil {
		return nil, err
	}
	l, err := lead(ctx, config, nil)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, l.close)
	return l, s.reach(ctx, config)
}

// reach takes the connection, to a database that is usable.
func (s *copySide) reach(ctx context.Context, config *pgx.ConnConfig) error {
	s.db = postgresPool(config, 1)
	s.closers = append(s.closers, s.db.Close)
	return usable(ctx, s.db)
}

const snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// openSnapshot reads a snapshot of the database, while a conductor may go on writing.
func (s *copySide) openSnapshot(ctx context.Context, p Place) error {
	s.postgres()
	config, err := copyConfig(p)
	if err != nil {
		return err
	}
	if err := s.reach(ctx, config); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.exec(ctx, snapshot)
}

func openPostgresSource(ctx context.Context, s *copySide, p Place) error {
	l, err := s.lead(ctx, p)
	if err != nil {
		return err
	}
	known, err := newestIn(postgresMigrations, "migrations/postgres")
	if err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.newest(ctx, known); err != nil {
		return err
	}
	if err := l.begin(ctx); err != nil { // the last conductor may only be cut off
		return err
	}
	return s.exec(ctx, snapshot)
}

// openPostgresTarget begins a transaction that is fenced by an epoch of its own.
func openPostgresTarget(ctx context.Context, s *copySide, p Place) error {
	l, err := s.lead(ctx, p)
	if err != nil {
		return err
	}
	if _, err := migratePostgres(ctx, s.db); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	s.commit = func(ctx context.Context) error { return s.exec(ctx, "COMMIT") }
	if err := errors.Join(l.begin(ctx), s.exec(ctx, "BEGIN")); err != nil {
		return err
	}
	const fenced = "SELECT epoch FROM leader WHERE conductor_group = '' AND epoch = $1 FOR KEY SHARE"
	err = s.conn.QueryRowContext(ctx, fenced, l.epoch).Scan(&l.epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrSuperseded
	}
	return err
}

// copyFrom writes the rows with COPY, as a stream.
func (s *copySide) copyFrom(ctx context.Context, t copiedTable, columns []copiedColumn, rows *copiedRows) error {
	return s.conn.Raw(func(c any) error {
		conn := c.(*stdlib.Conn).Conn() //nolint:forcetypeassert // our pool's
		_, err := conn.CopyFrom(ctx, pgx.Identifier{t.name}, columnList(columns), postgresRows{rows, columns})
		return err
	})
}

// postgresRows are rows as PostgreSQL takes them.
type postgresRows struct {
	*copiedRows
	columns []copiedColumn
}

// Values are the values of a row.
func (r postgresRows) Values() ([]any, error) {
	values, err := r.copiedRows.Values()
	if err != nil {
		return nil, err
	}
	written := postgresArgs(values)
	for i, c := range r.columns {
		if n, ok := written[i].(int64); ok && c.truth {
			written[i] = n != 0
		}
	}
	return written, nil
}
