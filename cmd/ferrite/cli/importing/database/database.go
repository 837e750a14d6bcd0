// Package database reads an Ironic's secrets from its database, since Ironic's API masks them: MySQL or MariaDB,
// PostgreSQL, SQLite.
//
// It reads two tables in one transaction, and writes nothing. Its errors show no password.
package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Config is which database.
type Config struct {
	URL      string
	Password string        // in the place of that in the URL, unless ""
	Timeout  time.Duration // of a connection's start; with MySQL also of each read and write
}

// maxTime bounds a read of all nodes of a large site.
const maxTime = 10 * time.Minute

// tables is THE table of the tables and fields to read.
var tables = []struct {
	name   string
	fields []string
}{
	{"nodes", []string{"driver_info", "instance_info"}},
	{"volume_targets", []string{"properties"}},
}

// Read adds the secrets of nodes and volumes.
func Read(ctx context.Context, conf Config, into translate.Secrets) error {
	u, err := Parse(conf.URL)
	if err != nil {
		return err
	}
	if conf.Password != "" {
		if u.Kind == sqlite {
			return fmt.Errorf("%s is a file of SQLite, which has no password", u)
		}
		u.Password = conf.Password
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	if err := read(ctx, u, conf.Timeout, into); err != nil {
		return hidden(fmt.Errorf("%s: %w%s", u, err, advice(err)), u.secrets())
	}
	return nil
}

func read(ctx context.Context, u URL, timeout time.Duration, into translate.Secrets) error {
	db, err := open(u, timeout)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it has only read
	// Both tables as they are at one moment. SQLite has no other isolation, and its file is opened to be read alone.
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if u.Kind == sqlite {
		options = nil
	}
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	for _, t := range tables {
		if err := readTable(ctx, tx, t.name, t.fields, into); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// open opens a database of any kind. It is asked nothing yet.
func open(u URL, timeout time.Duration) (*sql.DB, error) {
	switch u.Kind {
	case mySQL:
		return openMySQL(u, timeout)
	case postgreSQL:
		return openPostgreSQL(u, timeout)
	}
	return openSQLite(u.Name)
}

func readTable(ctx context.Context, tx *sql.Tx, table string, fields []string, into translate.Secrets) error {
	rows, err := tx.QueryContext(ctx, "SELECT uuid, "+strings.Join(fields, ", ")+" FROM "+table) //nolint:gosec // fixed
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err returns its errors
	for rows.Next() {
		var id string
		documents := make([]sql.NullString, len(fields))
		places := []any{&id}
		for i := range documents {
			places = append(places, &documents[i])
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		for i, field := range fields {
			if err := into.Add(id, field, []byte(documents[i].String)); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// hidden keeps secrets out of an error, as they are and as URLs have them.
func hidden(err error, secrets []string) error {
	if len(secrets) == 0 {
		return err
	}
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, nodeapi.Masked, escaped(s), nodeapi.Masked)
	}
	return &hiddenError{err, strings.NewReplacer(pairs...)}
}

type hiddenError struct {
	err  error
	hide *strings.Replacer
}

// Unwrap has causes found by their types alone.
func (e *hiddenError) Unwrap() error { return e.err }

func (e *hiddenError) Error() string { return e.hide.Replace(e.err.Error()) }
