package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// MigrateTo makes the schema of an earlier version in an empty database.
func MigrateTo(ctx context.Context, db *sql.DB, driver string, version int64) error {
	d, embedded, folder, more := goose.DialectSQLite3, migrations, "migrations", goMigrations()
	if driver == "pgx" {
		d, embedded, folder, more = goose.DialectPostgres, postgresMigrations, "migrations/postgres", nil
	}
	p, err := provider(db, d, embedded, folder, more...)
	if err == nil {
		_, err = p.UpTo(ctx, version)
	}
	return err
}
