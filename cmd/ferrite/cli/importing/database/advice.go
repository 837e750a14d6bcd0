package database

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// advices is THE table of advice on errors, by the codes of MySQL, or of SQL (PostgreSQL).
var advices = []struct {
	codes []string
	text  string
}{
	{[]string{"1045", "1698", "28P01", "28000"}, "check the user, and its password in $IRONIC_DATABASE_PASSWORD or " +
		"--ironic-database-password-file; ironic.conf writes $ as $$: give it once here"},
	{[]string{"1044", "1142", "42501"}, "the user needs SELECT on the tables nodes and volume_targets"},
	{[]string{"1049", "3D000"}, "[database] connection of ironic.conf has its name"},
	{[]string{"1054", "1146", "42703", "42P01"}, "it is not the database of an Ironic, or that Ironic is too old"},
}

// advice returns the next step after an error; "" for an unknown error.
func advice(err error) string {
	var (
		ofMySQL    *mysql.MySQLError
		ofPostgres *pgconn.PgError
		ofTLS      tls.AlertError
		ofRecord   tls.RecordHeaderError
		code       string
	)
	switch {
	case errors.As(err, &ofMySQL):
		code = fmt.Sprint(ofMySQL.Number)
	case errors.As(err, &ofPostgres):
		code = ofPostgres.Code
	case errors.Is(err, mysql.ErrInvalidConn): // the driver says no more
		return "\n  it does not answer within --request-timeout, closes connections, or is no MySQL"
	case errors.Is(err, mysql.ErrNoTLS):
		return "\n  the server offers no TLS: add it there, or leave the ssl options out"
	case errors.As(err, &ofTLS), errors.As(err, &ofRecord):
		return "\n  its TLS cannot be spoken here: ssl_mode=DISABLED as an option of the URL does without"
	}
	for _, a := range advices {
		for _, c := range a.codes {
			if c == code {
				return "\n  " + a.text
			}
		}
	}
	return ""
}

// escaped is a password as a URL has it.
func escaped(password string) string {
	_, text, _ := strings.Cut(url.UserPassword("", password).String(), ":")
	return text
}
