package store

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrFull says that there is no room for the write. Nothing that was written
// before is lost, and writes succeed again as soon as there is room.
var ErrFull error = fullError{}

// fullError marks a full disk for packages that do not import the store.
type fullError struct{}

func (fullError) Error() string {
	return "the disk under the database is full: make room, nothing written before is lost"
}

// OutOfSpace marks the error for nodeapi.OutOfSpace.
func (fullError) OutOfSpace() {}

// code is SQLite's extended result code, 0 for an error that is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// full marks an error that came of a full disk.
func full(err error) error {
	if (code(err)&0xff == sqlite3.SQLITE_FULL || sqlState(err) == diskFull) && !errors.Is(err, ErrFull) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// fatal reports errors after which the database may have undone the whole
// transaction, so that its other jobs have to be done again
// (sqlite.org/lang_transaction.html, "response to errors").
func fatal(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return again(err) || lost(err)
}

// noTransaction recognises the answer to a ROLLBACK with nothing to roll back,
// which has no code of its own.
func noTransaction(err error) bool {
	return code(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "no transaction is active")
}

// taken reports whether err is a unique index's refusal, and of which column
// ("nodes.name").
func taken(err error) (string, bool) {
	if sqlState(err) == uniqueViolation {
		return constraint(err), true
	}
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		_, col, _ := strings.Cut(err.Error(), "constraint failed: ")
		col, _, _ = strings.Cut(strings.TrimPrefix(col, "UNIQUE constraint failed: "), " ")
		return col, true
	}
	return "", false
}

// orphan reports whether err is a reference to a node that does not exist.
func orphan(err error) bool {
	return code(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY || sqlState(err) == foreignKeyViolation
}

// orphanColumn is the column of a refused reference, "" if the database does not name it.
func orphanColumn(err error) string {
	if orphan(err) {
		return constraint(err)
	}
	return ""
}
