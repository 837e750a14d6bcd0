package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDamaged says that a file is no whole database of a conductor. It has not
// been changed.
var ErrDamaged = errors.New("nothing was changed: restore the file from a backup, " +
	"with its -wal file if there is one; " +
	"to begin with an empty database move both away, and start once with --init")

// magic begins every SQLite file (sqlite.org/fileformat2.html, 1.3).
const magic = "SQLite format 3\x00"

// inspect refuses files that SQLite would open but should not. A truncated file shows only when the missing pages are
// read. An empty file beside a WAL makes SQLite delete the WAL. A file may have another program's tables. inspect reads
// the header and not all pages, so that a large database starts no later. An absent file passes.
func inspect(ctx context.Context, path string) error {
	there, err := inspectFile(path)
	if err != nil || !there {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, reading(path)))
	if err != nil {
		return err
	}
	return errors.Join(ours(ctx, db), db.Close())
}

// inspectFile makes the checks of inspect that need no SQLite. there is false for a database that is still to be made.
func inspectFile(path string) (there bool, err error) {
	f, err := os.Open(filepath.Clean(path))
	if errors.Is(err, os.ErrNotExist) {
		return false, orphanedWAL(path, "missing")
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() == 0 {
		return false, orphanedWAL(path, "empty")
	}
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:len(magic)]) != magic {
		return false, fmt.Errorf("file is not a database, it begins with %q; %w", header[:len(magic)], ErrDamaged)
	}
	return true, whole(path, header, info.Size())
}

// reading is how to read a database and change nothing. Where there is a WAL, it is
// read too: of a checkpoint that was cut off, by a kill or a full disk, the file
// alone has some pages new and some old, which SQLite calls malformed.
func reading(path string) url.Values {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}}
	}
	return url.Values{"mode": {"ro"}, "immutable": {"1"}}
}

// orphanedWAL refuses a WAL without its database: the WAL holds acknowledged writes.
func orphanedWAL(path, is string) error {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return fmt.Errorf("it is %s, but %s-wal holds %d bytes of its newest writes; %w", is, path, info.Size(), ErrDamaged)
	}
	return nil
}

// whole reports whether every page is in the file, or in the WAL: a process that
// is killed during a checkpoint leaves a file that is too short, and a WAL with
// the rest.
func whole(path string, header []byte, size int64) error {
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	if page < 512 || page&(page-1) != 0 {
		return fmt.Errorf("file is not a database, it has pages of %d bytes; %w", page, ErrDamaged)
	}
	// The count is valid when it was written with the newest change (1.3.7).
	pages := int64(binary.BigEndian.Uint32(header[28:]))
	if pages == 0 || binary.BigEndian.Uint32(header[24:]) != binary.BigEndian.Uint32(header[92:]) {
		pages = 0
	}
	if size >= pages*page && size%page == 0 {
		return nil
	}
	logged, err := walPages(path+"-wal", page)
	if err != nil {
		return err
	}
	for n := size/page + 1; n <= max(pages, size/page+1); n++ {
		if !logged[n] {
			return fmt.Errorf("it was cut short: its header counts %d pages of %d bytes, the file has %d bytes, "+
				"and page %d is not in the WAL; %w",
				pages, page, size, n, ErrDamaged)
		}
	}
	return nil
}

// walPages returns the pages that have their newest form in a WAL, in committed transactions
// (sqlite.org/fileformat2.html, 4.1 to 4.3).
func walPages(path string, page int64) (pages map[int64]bool, err error) {
	f, err := os.Open(filepath.Clean(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	header, frame := make([]byte, 32), make([]byte, 24)
	if _, err := io.ReadFull(f, header); err != nil || int64(binary.BigEndian.Uint32(header[8:])) != page {
		return nil, nil
	}
	pages = map[int64]bool{}
	var open []int64
	for at := int64(len(header)); ; at += int64(len(frame)) + page {
		_, err := f.ReadAt(frame, at)
		if err != nil || !slices.Equal(frame[8:16], header[16:24]) { // the salt of an earlier WAL
			return pages, nil
		}
		open = append(open, int64(binary.BigEndian.Uint32(frame)))
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // of a commit
			for _, n := range open {
				pages[n] = true
			}
			open = open[:0]
		}
	}
}

// queries is a database, or one connection to it.
type queries interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// ours refuses a database with tables of another program. A database without tables is
// accepted.
func ours(ctx context.Context, db queries) error {
	var names []string
	rows, err := db.QueryContext(ctx,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err == nil {
		err = eachRow(rows, func(rows *sql.Rows) error {
			names = append(names, "")
			return rows.Scan(&names[len(names)-1])
		})
	}
	if err != nil {
		return unreadable(err)
	}
	begun := len(names) == 0 || len(names) == 1 && names[0] == "goose_db_version"
	if begun || slices.Contains(names, "goose_db_version") && slices.Contains(names, "nodes") &&
		slices.Contains(names, "leases") {
		return nil
	}
	return fmt.Errorf("it is another program's: it has the tables %q and not a conductor's; %w",
		names[:min(len(names), 5)], ErrDamaged)
}

// SchemaVersion is the version of the schema of a database, 0 when it is missing
// or has none yet. It changes nothing.
func SchemaVersion(ctx context.Context, path string) (version int64, err error) {
	if err := inspect(ctx, path); err != nil {
		return 0, fmt.Errorf("database %s: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return 0, nil //nolint:nilerr // it is made at the start
	}
	db, err := sql.Open("sqlite", dsn(path, reading(path)))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var there bool
	const begun = "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	if err := db.QueryRowContext(ctx, begun).Scan(&there); err != nil || !there {
		return 0, err
	}
	err = db.QueryRowContext(ctx, newestVersion).Scan(&version)
	return version, err
}

// unreadable explains why tables cannot be read. Only some reasons are damage. On a full disk SQLite finds no room for
// the file that its readers share (SQLITE_IOERR_SHMSIZE); restoring a backup then would lose the newest writes.
func unreadable(err error) error {
	switch c := code(err); c & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN:
		if c == sqlite3.SQLITE_IOERR_SHORT_READ {
			break
		}
		return fmt.Errorf("read its tables: %w; nothing was changed: look for room on the disk, and at the kernel's log "+
			"for errors of the disk, then start again", err)
	}
	return fmt.Errorf("read its tables: %w; %w", err, ErrDamaged)
}
