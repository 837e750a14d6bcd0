package database

import (
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
)

// TestTLSMode: options of the Python drivers, and those of MySQL's client.
func TestTLSMode(t *testing.T) {
	for query, want := range map[string]string{
		"":                                    preferred,
		"charset=utf8":                        preferred,
		"ssl_mode=disabled":                   disabled,
		"ssl_mode=VERIFY_CA&ssl_ca=a":         verifyCA,
		"ssl_disabled=true&ssl_ca=a":          disabled,
		"ssl=false":                           disabled,
		"ssl=true":                            required,
		"ssl_cert=a&ssl_key=b":                required,
		"ssl_ca=a":                            verifyIdentity,
		"ssl_ca=a&ssl_cert=b&ssl_key=c":       verifyIdentity,
		"ssl_ca=a&ssl_check_hostname=false":   verifyCA,
		"ssl_ca=a&ssl_verify_identity=0":      verifyCA,
		"ssl_ca=a&ssl_verify_cert=false":      required,
		"ssl_verify_cert=true":                verifyIdentity,
		"ssl_verify_identity=true":            verifyIdentity,
		"ssl_check_hostname=false&ssl_cert=a": required,
	} {
		options, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tlsMode(options); got != want || err != nil {
			t.Errorf("%s: %s, %v; expected %s", query, got, err, want)
		}
	}
}

// TestMySQLConfig: where a connection goes, and whether it may go on without TLS.
func TestMySQLConfig(t *testing.T) {
	for where, want := range map[string]struct {
		net, addr, name string
		tls, plain      bool
	}{
		"mysql://u@db/i":                                {"tcp", "db:3306", "db", true, true},
		"mysql://u@db:3307/i?ssl_mode=DISABLED":         {"tcp", "db:3307", "", false, false},
		"mysql://u@[::1]/i?ssl_mode=VERIFY_IDENTITY":    {"tcp", "[::1]:3306", "::1", true, false},
		"mysql://u@/i":                                  {"tcp", "localhost:3306", "localhost", true, true},
		"mysql://u@/i?unix_socket=/run/mysql.s":         {"unix", "/run/mysql.s", "", false, false},
		"mysql://u@/i?unix_socket=/run/mysql.s&ssl=yes": {"unix", "/run/mysql.s", "", true, false},
	} {
		u, err := Parse(where)
		if err != nil {
			t.Fatal(err)
		}
		c, err := mysqlConfig(u, time.Second)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		name := ""
		if c.TLS != nil {
			name = c.TLS.ServerName
		}
		if c.Net != want.net || c.Addr != want.addr || name != want.name || (c.TLS != nil) != want.tls ||
			c.AllowFallbackToPlaintext != want.plain || c.AllowAllFiles || c.AllowCleartextPasswords || c.AllowOldPasswords {
			t.Errorf("%s: %s %s %q TLS %v plain %v, expected %+v", where, c.Net, c.Addr, name, c.TLS != nil,
				c.AllowFallbackToPlaintext, want)
		}
	}
}

// TestSilence: a server that says nothing is waited for no longer than a connection may take.
func TestSilence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, kind := range []string{"mysql", "postgresql"} {
		err := Read(t.Context(), Config{URL: kind + "://u:hunter2@" + l.Addr().String() + "/ironic",
			Timeout: 50 * time.Millisecond}, translate.Secrets{})
		if err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %v, expected a timeout", kind, err)
		}
	}
}

// TestAdvice: errors of servers come with a remedy.
func TestAdvice(t *testing.T) {
	for want, err := range map[string]error{
		"check the user, and its password": &mysql.MySQLError{Number: 1045},
		"ironic.conf has its name":         &pgconn.PgError{Code: "3D000"},
		"not the database of an Ironic":    &mysql.MySQLError{Number: 1146},
		"needs SELECT on":                  &pgconn.PgError{Code: "42501"},
		"offers no TLS":                    mysql.ErrNoTLS,
	} {
		if got := advice(err); !strings.Contains(got, want) {
			t.Errorf("%v: %q, expected %s", err, got, want)
		}
	}
	if got := advice(os.ErrNotExist); got != "" {
		t.Errorf("of an unknown error: %q", got)
	}
}
