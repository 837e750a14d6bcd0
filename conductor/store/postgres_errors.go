package store

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of PostgreSQL's errors (postgresql.org/docs/15/errcodes-appendix.html).
const (
	uniqueViolation       = "23505"
	foreignKeyViolation   = "23503"
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	invalidParameter      = "22023" // of a transaction that is still to come, to pg_xact_status
	diskFull              = "53100"
	tooManyConnections    = "53300"
	readOnlyTransaction   = "25006" // on a replica, which may become the primary
	insufficientPrivilege = "42501"
	queryCanceled         = "57014" // by statement_timeout
	idleInTransaction     = "25P03" // for longer than idle_in_transaction_session_timeout
)

// ErrUncertain says that the connection was lost while a write was committed, and that the
// server did not come back to say whether it was.
var ErrUncertain error = unavailable("it is not known whether the write was committed: look before you ask again")

// unavailable is an error that a client may find gone soon.
type unavailable string

func (e unavailable) Error() string { return string(e) }

// Unavailable marks the error for nodeapi.Unavailable.
func (unavailable) Unavailable() {}

// errConnection is for a connection that was lost before the commit.
var errConnection = errors.New("the connection to PostgreSQL was lost")

// sqlState is the code of an error of a PostgreSQL server, "" for another error.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// constraint is the column of the constraint that an error of PostgreSQL is about:
// constraints have the names of theirs ("nodes.name").
func constraint(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.ConstraintName
	}
	return ""
}

// again reports errors after which PostgreSQL wants the whole transaction to be done again.
func again(err error) bool {
	state := sqlState(err)
	return state == serializationFailure || state == deadlockDetected || state == queryCanceled
}

// lost reports errors of a connection that is gone or cannot be made: the server is stopped,
// starts, or cannot be reached. Class 08 is of connections; 57P01 to 57P05 end one.
func lost(err error) bool {
	if state := sqlState(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P0") || state == tooManyConnections ||
			state == readOnlyTransaction || state == idleInTransaction
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	if errors.As(err, &connect) || errors.As(err, &network) {
		return true
	}
	for _, target := range []error{errConnection, driver.ErrBadConn, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
