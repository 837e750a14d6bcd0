package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// oldestPostgres is the oldest version of the server, as server_version_num has it.
const oldestPostgres = 150000

// PostgresOptions are Options and the options for a database on a server.
type PostgresOptions struct {
	Options
	// Password is the password where neither the URL nor PGPASSFILE has it.
	Password string
	// Patience bounds how long a read or write waits for a lost connection, 30 s when 0.
	Patience time.Duration
	// Connection is called when the database cannot be reached, and with nil when it can be
	// again. After ErrSuperseded the conductor has to end.
	Connection func(err error)
	// Connections is how many it opens at most, the one of its lock apart; 28 when 0. See Share.
	Connections int
	// Term is a time for which a cluster has given this conductor a group of nodes; nil for a conductor that has
	// the database for itself.
	Term *Term
}

// OpenPostgres opens the database of a URL, and brings its schema up to date. One conductor has
// it at a time (ErrInUse).
func OpenPostgres(ctx context.Context, address string, o PostgresOptions) (*Database, error) {
	name := PostgresName(address)
	config, err := postgresConfig(address, o)
	if err != nil {
		return nil, err
	}
	s, err := openPostgres(ctx, name, config, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, full(err))
	}
	return s, nil
}

// IsPostgres reports whether an address is a URL of a PostgreSQL database.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// CheckPostgres refuses an address that is no URL of a PostgreSQL database.
func CheckPostgres(address string) error {
	_, err := postgresConfig(address, PostgresOptions{})
	return err
}

// PostgresName names a database without its password.
func PostgresName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "database"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return "database " + shown.String()
}

func postgresConfig(address string, o PostgresOptions) (*pgx.ConnConfig, error) {
	if !IsPostgres(address) {
		return nil, errors.New("expected a URL as postgres://user@host/name, found something else")
	}
	config, err := pgx.ParseConfig(address) // its errors have no password
	if err != nil {
		return nil, fmt.Errorf("%s: %w", PostgresName(address), err)
	}
	config.Password = cmp.Or(config.Password, o.Password)
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, lookTime)
	for name, value := range map[string]string{
		"application_name": "ferrite", "client_encoding": "UTF8", "default_transaction_isolation": "read committed",
		// A conductor that is frozen within a transaction keeps its locks no longer.
		"idle_in_transaction_session_timeout": "10000",
		"standard_conforming_strings":         "on", "synchronous_commit": "on",
	} {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	if o.NoSync {
		config.RuntimeParams["synchronous_commit"] = "off"
	}
	return config, nil
}

func openPostgres(
	ctx context.Context, name string, config *pgx.ConnConfig, o PostgresOptions,
) (_ *Database, err error) {
	l, begin, err := rightToWrite(ctx, config, o)
	if err != nil {
		return nil, err
	}
	seal := sealer{o.Keys}
	ready := prepareAlone
	if o.Term != nil {
		ready = sealed // the schema is up to date since OpenMembers
	}
	if err := ready(ctx, config, seal, o.Options); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if err := begin(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	s := newDatabase(name, postgresDialect, seal, o.Options)
	s.lead = l
	writing := config
	if o.Term != nil {
		s.group, s.cache.group = &o.Term.Group, &o.Term.Group
		config = o.Term.named(config)
		writing = o.Term.during(quickly(config))
		config = o.Term.during(config)
	}
	writers, readers := divide(cmp.Or(o.Connections, aloneConnections))
	write := postgresPool(writing, writers)
	w := &postgresWriter{
		db: write, cache: s.cache, seal: seal, lead: l, group: s.group, patience: cmp.Or(o.Patience, 30*time.Second),
	}
	read := postgresPool(readOnly(config), cmp.Or(o.Readers, readers))
	s.read = newReader(read, postgresDialect)
	s.resize = func(connections int) { resize(connections, write, read) }
	s.read.patiently, s.full = w.patiently, w.full
	documents := newWriter(w.transact, func() error { return nil })
	s.w, s.documents = w, documents
	s.closers = []func() error{s.read.close, documents.close, write.Close, l.close}
	return s, nil
}

// readOnly has connections refuse to write, once they are made: target_session_attrs=read-write looks for such that
// do not.
func readOnly(config *pgx.ConnConfig) *pgx.ConnConfig {
	config = config.Copy()
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		const text = "SET default_transaction_read_only = on; SELECT pg_is_in_recovery()"
		results, err := conn.Exec(ctx, text).ReadAll()
		if err == nil && string(results[1].Rows[0][0]) == "t" {
			err = fmt.Errorf("%w: expected the primary server, found a replica, which may lag", errConnection)
		}
		return err
	}
	return config
}

// rightToWrite is the lock of a conductor that has the database for itself, or the term of one in a cluster. begin
// begins the epoch, once the schema is up to date.
func rightToWrite(
	ctx context.Context, config *pgx.ConnConfig, o PostgresOptions,
) (right writeRight, begin func(context.Context) error, err error) {
	if o.Term != nil {
		return &termFence{of: o.Term}, func(context.Context) error { return nil }, nil
	}
	l, err := lead(ctx, config, o.Connection)
	if err != nil {
		return nil, nil, err
	}
	return l, l.begin, nil
}

// prepareAlone brings schema and seals up to date, while no other conductor does.
func prepareAlone(ctx context.Context, config *pgx.ConnConfig, seal sealer, o Options) error {
	return alone(ctx, config, func(db *sql.DB) error {
		return prepare(ctx, db, postgresDialect, migratePostgres, seal, o)
	})
}

// sealed brings the seals up to date: a takeover waits for it.
func sealed(ctx context.Context, config *pgx.ConnConfig, seal sealer, o Options) error {
	db := postgresPool(config, 1)
	return errors.Join(sealing{seal, db, postgresDialect, o.step()}.all(ctx, false, o.DropLost), db.Close())
}

// migrateAlone brings the schema up to date, and returns the version that it had. Seals are the leader's.
func migrateAlone(ctx context.Context, config *pgx.ConnConfig) (before int64, err error) {
	err = alone(ctx, config, func(db *sql.DB) (err error) {
		before, err = migratePostgres(ctx, db)
		return err
	})
	return before, err
}

// alone does something to a usable database while no other conductor does it.
func alone(ctx context.Context, config *pgx.ConnConfig, do func(*sql.DB) error) (err error) {
	db := postgresPool(config, 2) // one for the lock
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := usable(ctx, db); err != nil {
		return err
	}
	lock, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := lock.ExecContext(ctx, "SELECT pg_advisory_lock($1, hashtext(current_schema()))", schemaLock); err != nil {
		return err
	}
	return do(db)
}

func postgresPool(config *pgx.ConnConfig, most int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// usable refuses a server that is too old, a replica, a database of another encoding, and the tables of another
// program.
func usable(ctx context.Context, db *sql.DB) error {
	var version int
	var replica, other, ours bool
	var encoding string
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::integer, pg_is_in_recovery(),
		current_setting('server_encoding'), to_regclass('leader') IS NOT NULL AND to_regclass('nodes') IS NOT NULL,
		EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'goose_db_version')`).Scan(
		&version, &replica, &encoding, &ours, &other)
	switch {
	case err != nil:
		return err
	case version < oldestPostgres:
		return fmt.Errorf("expected PostgreSQL 15 or newer, found version %d.%d: use a newer server", version/10000,
			version%10000)
	case replica:
		return errors.New("expected the primary server, found a replica: name the primary, or all of them with " +
			"target_session_attrs=read-write")
	case encoding != "UTF8":
		return fmt.Errorf("expected a database with the encoding UTF8, found %s: create it with ENCODING 'UTF8' "+
			"TEMPLATE template0", encoding)
	case other && !ours:
		return errors.New("it has tables of another program: create a database for the conductor alone")
	}
	return nil
}

// sealedTables are the tables that hold secrets.
func sealedTables() (names []string) {
	for _, r := range resealers {
		names = append(names, r.table)
	}
	return names
}

// forgetInPostgres writes the tables with secrets anew, without their deleted rows. The WAL,
// which the server keeps, and its backups are the administrator's.
func forgetInPostgres(ctx context.Context, db *sql.DB, step func(string) error) error {
	if _, err := db.ExecContext(ctx, "VACUUM (FULL) "+strings.Join(sealedTables(), ", ")); err != nil {
		return fmt.Errorf("vacuum, which needs as much room again as the tables have: %w", full(err))
	}
	return step("vacuum")
}
