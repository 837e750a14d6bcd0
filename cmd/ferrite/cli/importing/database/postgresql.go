package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// openPostgreSQL opens a database with libpq's options, sslmode among them.
func openPostgreSQL(u URL, timeout time.Duration) (*sql.DB, error) {
	conf, err := postgresConfig(u, timeout)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*conf), nil
}

func postgresConfig(u URL, timeout time.Duration) (*pgx.ConnConfig, error) {
	if err := checkRoot(u.Options); err != nil {
		return nil, err
	}
	to, err := servers(u)
	if err != nil {
		return nil, err
	}
	var read pgx.ParseConfigOptions
	read.GetSSLPassword = func(context.Context) string { return u.Options.Get("sslpassword") }
	conf, err := pgx.ParseConfigWithOptions(settings(u, to), read)
	if err != nil {
		return nil, err
	}
	if u.Password != "" {
		conf.Password = u.Password
	}
	conf.ConnectTimeout = timeout
	conf.LookupFunc = to.lookup(conf.LookupFunc)
	conf.RuntimeParams["client_encoding"] = "UTF8" // Go's encoding; the database may use another one
	return conf, nil
}

// checkRoot refuses a CA where libpq would fall back to a connection without a check of the certificate.
func checkRoot(options url.Values) error {
	root, mode := options.Get("sslrootcert"), options.Get("sslmode")
	if root == "" || root == "system" || slices.Contains([]string{"require", "verify-ca", "verify-full"}, mode) {
		return nil
	}
	return errors.New("the option sslrootcert checks nothing without sslmode=verify-full or verify-ca: add one of them, " +
		"or leave it out")
}

// settings is a connection as libpq's KEY='VALUE' words, without passwords: errors of the driver show it.
func settings(u URL, to addresses) string {
	all := map[string]string{"user": u.User, "dbname": u.Name, "host": strings.Join(to.hosts, ",")}
	if strings.Trim(strings.Join(to.ports, ""), ",") != "" {
		all["port"] = strings.Join(to.ports, ",")
	}
	for name := range u.Options {
		if o := options[postgreSQL][name]; o.counts && !o.many && name != "sslpassword" {
			all[name] = u.Options.Get(name)
		}
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			words = append(words, name+"='"+strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(all[name])+"'")
		}
	}
	return strings.Join(words, " ")
}

// addresses are servers, of which the first that answers is taken.
type addresses struct {
	hosts, ports []string // one for each, "" for the usual one; or one port for all
	at           map[string][]string
}

// servers are the hosts of a URL and their ports: behind the slashes, or as options. SQLAlchemy takes host=a,b&port=1,2
// and host=a:1&host=b:2, libpq also a:1,b:2 behind the slashes.
func servers(u URL) (addresses, error) {
	var to addresses
	to.hosts, to.ports = splitPorts([]string{u.Host})
	for i, h := range to.hosts {
		to.hosts[i] = unquote(h) // of a socket %2Frun
	}
	inHost := false
	if u.Options.Has("host") {
		hosts, ports := splitPorts(u.Options["host"])
		if to.hosts = hosts; strings.Join(ports, "") != "" {
			to.ports, inHost = ports, true
		}
	}
	if u.Options.Has("port") {
		if inHost {
			return to, errors.New("the options host and port both have ports: expected host=a,b&port=1,2 or host=a:1&host=b:2")
		}
		to.ports = strings.Split(strings.Join(u.Options["port"], ","), ",")
	}
	for _, p := range to.ports {
		if !isPort(p) {
			return to, errors.New("the options host and port: expected ports from 1 to 65535")
		}
	}
	if len(to.ports) > 1 && len(to.ports) != len(to.hosts) {
		if strings.Join(to.ports, "") != "" {
			return to, fmt.Errorf("%d ports are given for %d hosts: expected one for all, or one for each", len(to.ports),
				len(to.hosts))
		}
		to.ports = nil
	}
	return to, to.addAddresses(u.Options["hostaddr"])
}

// splitPorts takes lists of HOST[:PORT] apart.
func splitPorts(given []string) (hosts, ports []string) {
	for _, h := range strings.Split(strings.Join(given, ","), ",") {
		host, port := h, ""
		switch colon := strings.LastIndex(h, ":"); {
		case strings.HasPrefix(h, "/"): // a folder with a socket
		case strings.HasPrefix(h, "["): // [IPv6]:PORT
			host, port, _ = strings.Cut(h[1:], "]")
			port = strings.TrimPrefix(port, ":")
		case strings.Count(h, ":") == 1: // more of them: IPv6
			host, port = h[:colon], h[colon+1:]
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	return hosts, ports
}

// addAddresses sets the addresses of hosts, as libpq's hostaddr does. The hosts' names then only serve to check
// certificates.
func (a *addresses) addAddresses(given []string) error {
	if len(given) == 0 {
		return nil
	}
	list := strings.Split(strings.Join(given, ","), ",")
	if len(a.hosts) == 1 && a.hosts[0] == "" {
		a.hosts = list
		return nil
	}
	if len(list) != len(a.hosts) {
		return fmt.Errorf("the option hostaddr has %d addresses for %d hosts: expected one for each", len(list),
			len(a.hosts))
	}
	a.at = map[string][]string{}
	for i, h := range a.hosts {
		switch {
		case list[i] == "":
		case h == "" || strings.HasPrefix(h, "/"):
			a.hosts[i] = list[i]
		default:
			a.at[h] = append(a.at[h], list[i])
		}
	}
	return nil
}

// lookup finds hosts at their addresses, others as before.
func (a *addresses) lookup(other pgconn.LookupFunc) pgconn.LookupFunc {
	return func(ctx context.Context, host string) ([]string, error) {
		if at := a.at[host]; at != nil {
			return at, nil
		}
		return other(ctx, host)
	}
}
