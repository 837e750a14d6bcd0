package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed migrations/postgres/*.sql
var postgresMigrations embed.FS

// migrateSQLite brings the schema to the newest version this build knows, and returns the
// version that it had, 0 for a new database.
func migrateSQLite(ctx context.Context, db *sql.DB) (before int64, err error) {
	return migrate(ctx, db, goose.DialectSQLite3, migrations, "migrations", goMigrations()...)
}

// migratePostgres is migrateSQLite for PostgreSQL, which has version numbers of its own.
func migratePostgres(ctx context.Context, db *sql.DB) (before int64, err error) {
	return migrate(ctx, db, goose.DialectPostgres, postgresMigrations, "migrations/postgres")
}

func migrate(
	ctx context.Context, db *sql.DB, d goose.Dialect, embedded embed.FS, folder string, more ...*goose.Migration,
) (before int64, err error) {
	p, err := provider(db, d, embedded, folder, more...)
	if err != nil {
		return 0, err
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if have > known {
		return 0, fmt.Errorf("the schema is version %d, this build knows up to %d: start the newer build that wrote it",
			have, known)
	}
	if first := p.ListSources()[0].Version; have > 0 && have < first {
		return 0, fmt.Errorf("the schema is version %d, this build upgrades versions from %d: "+
			"start a build of v0.1 on it first",
			have, first)
	}
	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate the schema: %w", err)
	}
	return have, nil
}

// provider is goose's, for a folder of migrations and those in Go.
func provider(
	db *sql.DB, d goose.Dialect, embedded embed.FS, folder string, more ...*goose.Migration,
) (*goose.Provider, error) {
	files, err := fs.Sub(embedded, folder)
	if err != nil {
		return nil, fmt.Errorf("read the embedded migrations: %w", err)
	}
	p, err := goose.NewProvider(d, db, files, goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(more...))
	if err != nil {
		return nil, fmt.Errorf("prepare the migrations: %w", err)
	}
	return p, nil
}
