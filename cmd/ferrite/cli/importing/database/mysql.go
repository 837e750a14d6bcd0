package database

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// openMySQL opens a database of MySQL or MariaDB. The driver sends no file of this host to a server that asks for one,
// and no password in clear text.
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
	if err := checkOptions(u.Options); err != nil {
		return nil, err
	}
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
	if conf.TLS.ServerName, _, err = net.SplitHostPort(conf.Addr); err != nil && conf.Net == "tcp" {
		return nil, fmt.Errorf("host %s: %w", u.Host, err)
	}
	return conf, nil
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

// The modes of TLS, as MySQL's own client names them.
const (
	disabled       = "DISABLED"
	preferred      = "PREFERRED" // the default: TLS where the server offers it
	required       = "REQUIRED"
	verifyCA       = "VERIFY_CA"
	verifyIdentity = "VERIFY_IDENTITY"
)

var modes = []string{disabled, preferred, required, verifyCA, verifyIdentity}

// options is THE table of options: of the Python drivers PyMySQL and mysqlclient, and of SQLAlchemy. False are those
// that do not matter to a reader.
var options = map[string]bool{
	"unix_socket": true, "ssl": true, "ssl_mode": true, "ssl_disabled": true, "ssl_ca": true, "ssl_cert": true,
	"ssl_key": true, "ssl_verify_cert": true, "ssl_verify_identity": true, "ssl_check_hostname": true,

	"autocommit": false, "binary_prefix": false, "charset": false, "client_flag": false, "compress": false,
	"connect_timeout": false, "init_command": false, "local_infile": false, "max_allowed_packet": false,
	"program_name": false, "read_timeout": false, "sql_mode": false, "use_unicode": false, "write_timeout": false,
}

// checkOptions refuses options that might matter.
func checkOptions(of url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if _, known := options[name]; known {
			continue
		}
		var used []string
		for o, does := range options {
			if does {
				used = append(used, o)
			}
		}
		slices.Sort(used)
		return fmt.Errorf("the option %s is not known here: leave it out; the options that count are %s", name,
			strings.Join(used, ", "))
	}
	return nil
}

// tlsMode is the mode that options ask for, as the Python drivers read them.
func tlsMode(of url.Values) (string, error) {
	flags := map[string]bool{}
	for _, name := range []string{"ssl", "ssl_disabled", "ssl_verify_cert", "ssl_verify_identity", "ssl_check_hostname"} {
		if !of.Has(name) {
			continue
		}
		switch strings.ToLower(of.Get(name)) {
		case "true", "1", "yes", "on":
			flags[name] = true
		case "false", "0", "no", "off":
			flags[name] = false
		default:
			return "", fmt.Errorf("the option %s is %q: expected true or false", name, of.Get(name))
		}
	}
	is := func(name string, want bool) bool { v, given := flags[name]; return given && v == want }
	mode := strings.ToUpper(of.Get("ssl_mode"))
	switch {
	case mode != "" && !slices.Contains(modes, mode):
		return "", fmt.Errorf("the option ssl_mode is %q: expected one of %s", of.Get("ssl_mode"), strings.Join(modes, ", "))
	case mode != "":
		return mode, nil
	case is("ssl_disabled", true):
		return disabled, nil
	case is("ssl_verify_cert", false):
		return required, nil
	case (of.Has("ssl_ca") || is("ssl_verify_cert", true)) && (is("ssl_verify_identity", false) ||
		is("ssl_check_hostname", false)):
		return verifyCA, nil
	case of.Has("ssl_ca") || is("ssl_verify_cert", true) || is("ssl_verify_identity", true) ||
		is("ssl_check_hostname", true):
		return verifyIdentity, nil
	case of.Has("ssl_cert") || is("ssl", true):
		return required, nil
	case is("ssl", false):
		return disabled, nil
	}
	return preferred, nil
}

func tlsConfig(mode string, of url.Values) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: mode != verifyIdentity}
	if file := of.Get("ssl_ca"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the option ssl_ca: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the option ssl_ca: %s: expected a certificate in PEM, found none", file)
		}
	}
	if cert, key := of.Get("ssl_cert"), of.Get("ssl_key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the options ssl_cert and ssl_key: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	if mode == verifyCA {
		conf.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, conf.RootCAs) }
	}
	return conf, nil
}

// verifyChain checks a certificate for any name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server shows no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
