package database

import (
	"cmp"
	"database/sql"
	"net"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// openMySQL opens a database of MySQL or MariaDB. The driver sends no file of this host to a server that asks for one,
// and no password in clear text outside of TLS and of sockets.
//
// Below VERIFY_CA the certificate is not checked: by sha256_password, and by caching_sha2_password at its first login,
// a man in the middle with any certificate gets the password. Without TLS these encrypt it with a key that the other
// side sends, which helps against listeners alone. So the page recommends ssl_ca.
func openMySQL(u URL, timeout time.Duration) (*sql.DB, error) {
	conf, err := mysqlConfig(u, timeout)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func mysqlConfig(u URL, timeout time.Duration) (*mysql.Config, error) {
	conf := mysql.NewConfig()
	conf.User, conf.Passwd, conf.DBName = u.User, u.Password, u.Name
	conf.Net, conf.Addr = "tcp", hostPort(u.Host)
	if path := u.Options.Get("unix_socket"); path != "" {
		conf.Net, conf.Addr = "unix", path
	}
	conf.Timeout, conf.ReadTimeout, conf.WriteTimeout = timeout, timeout, timeout
	conf.Logger = &mysql.NopLogger{} // errors are returned
	mode, err := tlsMode(u.Options)
	if err != nil {
		return nil, err
	}
	if conf.Net == "unix" && mode == preferred || mode == disabled {
		return conf, nil
	}
	conf.AllowFallbackToPlaintext = mode == preferred
	if conf.TLS, err = tlsConfig(mode, u.Options); err != nil {
		return nil, err
	}
	conf.TLS.ServerName, _, err = net.SplitHostPort(hostPort(u.Host)) // at a socket, too: localhost
	return conf, err
}

// hostPort is a host with the port of MySQL unless it has one.
func hostPort(host string) string {
	const port = "3306"
	name, given, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return net.JoinHostPort(cmp.Or(name, "localhost"), cmp.Or(given, port))
}
