package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
)

// Snapshot writes the SQLite database at path, as it is at one moment, to a new file. A conductor may be running on it;
// its writes neither wait nor are lost. The copy has no WAL.
func Snapshot(ctx context.Context, path, to string) (err error) {
	how := url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}}
	if _, err := os.Stat(path + "-shm"); errors.Is(err, fs.ErrNotExist) { // no process has it open
		if err := inspect(ctx, path); err != nil {
			return fmt.Errorf("database %s: %w", path, err)
		}
		how = reading(path)
	}
	db, err := sql.Open("sqlite", dsn(path, how))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copy the database %s to %s: %w", path, to, full(err))
	}
	return nil
}
