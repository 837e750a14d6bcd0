package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
)

// Checked is the result of Check.
type Checked struct {
	Schema, Known int64 // the version of the database, and the newest of this build
	Tables        []TableCount
	Faults        []string // each in one line, with its remedy
	Unopened      int      // rows with sealed values that were not checked, because their key is missing
}

// TableCount is the number of rows of a table.
type TableCount struct {
	Name string
	Rows int
}

// CheckOptions are the checks that need keys or the types of documents. This package has neither.
type CheckOptions struct {
	// Document refuses an unreadable document of a host, and a secret that the key does not open. EraseReport refuses a
	// report with a wrong signature.
	Document    func(objects.Row) error
	EraseReport func(node.EraseReport) error
	// Keys open the sealed values of records; nil: they are not looked into.
	Keys *seal.Ring
}

// restore is the advice for most faults.
const restore = "restore the data folder from a backup"

// Check reads a whole database, and changes nothing. No conductor may have a file open. On a server, Check reads a
// snapshot. It returns an error only when the database cannot be read as one at all.
func Check(ctx context.Context, p Place, o CheckOptions) (Checked, error) {
	done, err := check(ctx, p, o)
	if err != nil {
		return done, fmt.Errorf("%s: %w", p, err)
	}
	return done, nil
}

func check(ctx context.Context, p Place, o CheckOptions) (done Checked, err error) {
	c := &checker{copySide: &copySide{}, o: o, done: &done, faults: map[string]int{},
		absent: map[seal.ID]bool{}}
	defer func() { err = errors.Join(err, c.close()) }()
	if p.File == "" {
		err = c.openServer(ctx, p)
	} else {
		err = c.openFile(ctx, p)
	}
	if err != nil || !c.schema(ctx) {
		return done, err
	}
	for _, t := range checkedTables {
		if err := c.table(ctx, t); err != nil {
			c.fault(t.name, "", "rows that can be read", err, restore)
		}
	}
	c.references(ctx)
	return done, ctx.Err()
}

func (c *checker) openFile(ctx context.Context, p Place) (err error) {
	if c.done.Known, err = newestSchema(); err != nil {
		return err
	}
	if err := c.openSQLite(ctx, p); err != nil {
		return err
	}
	c.integrity(ctx)
	c.foreignKeys(ctx)
	return nil
}

// openServer opens a database on a server, which checks pages and foreign keys itself.
func (c *checker) openServer(ctx context.Context, p Place) (err error) {
	if c.done.Known, err = newestIn(postgresMigrations, "migrations/postgres"); err != nil {
		return err
	}
	return c.openSnapshot(ctx, p)
}

// has reports whether the schema includes the changes of SQLite's version since.
func (c *checker) has(since int64) bool { return c.ofServer || c.done.Schema >= since }

// checking are the options to read a database without changing its files. Beside a WAL, SQLite keeps its index in
// memory when the connection is the only one (sqlite.org/wal.html#noshm). A read-only file cannot be locked.
func checking(file string) url.Values {
	if v := reading(file); v.Has("immutable") {
		return v
	}
	return url.Values{"mode": {"ro"}, "vfs": {"unix-none"}, "_pragma": {"locking_mode(EXCLUSIVE)"}}
}

// checker is one Check.
type checker struct {
	*copySide
	o    CheckOptions
	done *Checked
	// faults are counted by table.
	faults map[string]int
	// absent are the keys that rows are sealed with, and that were not given.
	absent map[seal.ID]bool
}

// mostFaults bounds the faults listed for one table: the first ones suffice.
const mostFaults = 50

// fault notes that a table or one of its rows is not as a conductor writes it; row is its key, "" for the whole table.
func (c *checker) fault(table, row, want string, found any, do string) {
	switch c.faults[table]++; {
	case c.faults[table] > mostFaults+1:
		return
	case c.faults[table] > mostFaults:
		row, want, found, do = "", "fewer faults", fmt.Sprintf("more than %d", mostFaults), restore
	}
	where := table
	if row != "" {
		where += ", row " + row
	}
	c.done.Faults = append(c.done.Faults, fmt.Sprintf("%s: expected %s, found %v; %s", where, want, found, do))
}

func (c *checker) integrity(ctx context.Context) {
	err := c.each(ctx, "PRAGMA integrity_check", func(rows *sql.Rows) error {
		var found string
		if err := rows.Scan(&found); err != nil || found == "ok" {
			return err
		}
		c.fault("the file", "", "whole pages and indexes", strings.TrimSpace(found), restore)
		return nil
	})
	if err != nil {
		c.fault("the file", "", "whole pages and indexes", err, restore)
	}
}

func (c *checker) foreignKeys(ctx context.Context) {
	err := c.each(ctx, "PRAGMA foreign_key_check", func(rows *sql.Rows) error {
		var table, parent string
		var row sql.NullInt64
		var key int
		if err := rows.Scan(&table, &row, &parent, &key); err != nil {
			return err
		}
		c.fault(table, fmt.Sprint(row.Int64), "a row of "+parent+" that it belongs to", "none", restore)
		return nil
	})
	if err != nil {
		c.fault("the file", "", "references that can be read", err, restore)
	}
}

// schema reports whether this build knows the schema of the tables.
func (c *checker) schema(ctx context.Context) bool {
	if err := c.conn.QueryRowContext(ctx, newestVersion).Scan(&c.done.Schema); err != nil {
		c.fault("goose_db_version", "", "the schema's version", err, restore)
		return false
	}
	if c.done.Schema > c.done.Known {
		c.fault("goose_db_version", "", fmt.Sprintf("a schema up to version %d, which is the newest of this build",
			c.done.Known),
			fmt.Sprintf("version %d", c.done.Schema), "check it with the newer build that wrote it")
		return false
	}
	return true
}

// newestSchema is the version of SQLite's last migration.
func newestSchema() (newest int64, err error) {
	return newestIn(migrations, "migrations", goMigrations()...)
}

// newestIn is the version of the last migration of a folder.
func newestIn(embedded embed.FS, folder string, more ...*goose.Migration) (newest int64, err error) {
	files, err := embedded.ReadDir(folder)
	if err != nil {
		return 0, fmt.Errorf("read the embedded migrations: %w", err)
	}
	for _, f := range files {
		number, _, _ := strings.Cut(path.Base(f.Name()), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("embedded migration %s: expected a name that begins with its version: %w", f.Name(), err)
		}
		newest = max(newest, version)
	}
	for _, m := range more {
		newest = max(newest, m.Version)
	}
	return newest, nil
}
