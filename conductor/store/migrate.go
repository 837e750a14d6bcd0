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

// migrate brings the schema to the newest version this build knows, and returns the
// version that it had, 0 for a new database.
func migrate(ctx context.Context, db *sql.DB) (before int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, fmt.Errorf("read the embedded migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goMigrations()...))
	if err != nil {
		return 0, fmt.Errorf("prepare the migrations: %w", err)
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if have > known {
		return 0, fmt.Errorf("the schema is version %d, this build knows up to %d: start the newer build that wrote it",
			have, known)
	}
	if _, err := p.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate the schema: %w", err)
	}
	return have, nil
}
