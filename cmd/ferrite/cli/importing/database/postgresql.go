package database

import (
	"database/sql"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// openPostgreSQL opens a database whose options are those of libpq, sslmode among them.
func openPostgreSQL(u URL, timeout time.Duration) (*sql.DB, error) {
	at := url.URL{Scheme: "postgresql", Host: u.Host, Path: "/" + u.Name, RawQuery: u.Options.Encode()}
	if u.User != "" {
		at.User = url.User(u.User)
	}
	conf, err := pgx.ParseConfig(at.String())
	if err != nil {
		return nil, err
	}
	if u.Password != "" {
		conf.Password = u.Password
	}
	conf.ConnectTimeout = timeout
	return stdlib.OpenDB(*conf), nil
}
