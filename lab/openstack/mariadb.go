package openstack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/go-sql-driver/mysql"
)

// MariaDB is Debian's package mariadb-server-core, at a socket in its folder and on the loopback. It logs every
// statement.
type MariaDB struct {
	service
	Address  string // host:port
	Socket   string
	Password string // of root
}

// installDatabase is a program that makes its tables, mariadbd is the server.
const (
	installDatabase = "mariadb-install-db"
	mariadbd        = "/usr/sbin/mariadbd"
)

// StartMariaDB makes a server in a folder and starts it; settings are more arguments of it. A client that asks for
// TLS gets it if the settings have a certificate.
func StartMariaDB(ctx context.Context, at Place, dir string, settings ...string) (*MariaDB, error) {
	s, err := newService(at, "mariadb", "mariadb-server-core", mariadbd, dir)
	if err != nil {
		return nil, err
	}
	m := &MariaDB{service: s, Address: s.address, Socket: s.file("mariadb.sock"), Password: "root-password"}
	if err := m.finish(m.command(ctx, installDatabase, "--no-defaults", "--user=root", "--datadir="+m.file("data"),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")); err != nil {
		return nil, fmt.Errorf("install MariaDB (Debian packages mariadb-server-core, mariadb-client-core): %w", err)
	}
	_, port, _ := net.SplitHostPort(m.Address) // our own
	args := []string{"--no-defaults", "--user=root", "--datadir=" + m.file("data"), "--socket=" + m.Socket,
		"--pid-file=" + m.file("pid"), "--bind-address=127.0.0.1", "--port=" + port, "--skip-name-resolve",
		"--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF",
		"--general-log", "--general-log-file=" + m.Log()}
	ready := func() error { // until it has given its administrator a password
		return m.exec(ctx, "", fmt.Sprintf("ALTER USER root@localhost IDENTIFIED BY '%s'", m.Password))
	}
	return m, m.startUntil(ctx, ready, mariadbd, append(args, settings...)...)
}

// Log is the file with all statements.
func (m *MariaDB) Log() string { return m.file("statements") }

// Run runs statements as the administrator does.
func (m *MariaDB) Run(ctx context.Context, statements ...string) error {
	return m.exec(ctx, m.Password, statements...)
}

// Database makes a database, and a user with all rights in it. It returns the database's URL for SQLAlchemy.
func (m *MariaDB) Database(ctx context.Context, name, user, password string) (string, error) {
	err := m.Run(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb3",
		fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY '%s'", user, password),
		fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", name, user))
	u := url.URL{Scheme: "mysql+pymysql", User: url.UserPassword(user, password), Host: m.Address, Path: "/" + name}
	return u.String(), err
}

func (m *MariaDB) exec(ctx context.Context, password string, statements ...string) error {
	conf := mysql.NewConfig()
	conf.User, conf.Passwd, conf.Net, conf.Addr, conf.Logger = "root", password, "unix", m.Socket, &mysql.NopLogger{}
	db, err := sql.Open("mysql", conf.FormatDSN())
	if err != nil {
		return err //nolint:wrapcheck // says what it is
	}
	for _, text := range statements {
		if _, err = db.ExecContext(ctx, text); err != nil {
			err = fmt.Errorf("%s: %w", text, err)
			break
		}
	}
	return errors.Join(err, db.Close())
}
