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

// TestTLSMode: options of the Python drivers, and options of MySQL's client.
func TestTLSMode(t *testing.T) {
	for query, want := range map[string]mode{
		"":                            preferred,
		"charset=utf8":                preferred,
		"ssl_mode=disabled":           disabled,
		"ssl_mode=VERIFY_CA&ssl_ca=a": verifyCA,
		"ssl_disabled=true":           disabled,
		"ssl_disabled=true&ssl_verify_identity=no": disabled,
		"ssl=false":                                            disabled,
		"ssl=true":                                             required,
		"ssl_cert=a&ssl_key=b":                                 required,
		"ssl_ca=a":                                             verifyIdentity,
		"ssl_ca=a&ssl_cert=b&ssl_key=c":                        verifyIdentity,
		"ssl_ca=a&ssl_check_hostname=false":                    verifyCA,
		"ssl_ca=a&ssl_verify_identity=0":                       verifyCA,
		"ssl_verify_cert=false":                                required,
		"ssl_mode=REQUIRED&ssl_ca=a":                           verifyCA,
		"ssl_mode=PREFERRED&ssl_ca=a":                          verifyCA,
		"ssl_mode=VERIFY_IDENTITY&ssl_ca=a":                    verifyIdentity,
		"ssl_mode=VERIFY_CA&ssl_verify_identity=true":          verifyIdentity,
		"ssl_mode=PREFERRED&ssl_verify_cert=true&ssl_ca=a":     verifyCA,
		"ssl_mode=REQUIRED&ssl_check_hostname=true":            verifyIdentity,
		"ssl_mode=REQUIRED&ssl_ca=a&ssl_check_hostname=false":  verifyCA,
		"ssl_disabled=false&ssl_ca=a&ssl_verify_identity=true": verifyIdentity,
		"ssl_disabled=false":                                   preferred,
		"ssl_verify_cert=true":                                 verifyIdentity,
		"ssl_verify_identity=true":                             verifyIdentity,
		"ssl_check_hostname=false&ssl_cert=a":                  required,
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

// TestTLSContradictions: an option that another one would take the effect of is refused.
func TestTLSContradictions(t *testing.T) {
	for query, want := range map[string]string{
		"ssl_verify_cert=false&ssl_verify_identity=true":   "ssl_verify_identity=true contradicts ssl_verify_cert=false",
		"ssl_verify_cert=0&ssl_check_hostname=1":           "ssl_check_hostname=1 contradicts ssl_verify_cert=0",
		"ssl_ca=a&ssl_verify_cert=false":                   "ssl_ca=a contradicts ssl_verify_cert=false",
		"ssl_verify_identity=1&ssl_check_hostname=0":       "ssl_verify_identity=1 contradicts ssl_check_hostname=0",
		"ssl_disabled=true&ssl_ca=a":                       "ssl_ca=a contradicts ssl_disabled=true",
		"ssl=false&ssl_cert=a&ssl_key=b":                   "ssl_cert=a contradicts ssl=false",
		"ssl_mode=DISABLED&ssl_ca=a":                       "ssl_ca=a contradicts ssl_mode=DISABLED",
		"ssl_mode=disabled&ssl=true":                       "ssl=true contradicts ssl_mode=disabled",
		"ssl_mode=VERIFY_CA&ssl_verify_cert=false":         "ssl_mode=VERIFY_CA contradicts ssl_verify_cert=false",
		"ssl_mode=VERIFY_IDENTITY&ssl_verify_identity=off": "ssl_mode=VERIFY_IDENTITY contradicts ssl_verify_identity=off",
	} {
		options, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tlsMode(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; expected that %s", query, got, err, want)
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
		"mysql://u@/i?unix_socket=/run/mysql.s&ssl=yes": {"unix", "/run/mysql.s", "localhost", true, false},
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
		"ironic.conf writes $ as $$":       &pgconn.PgError{Code: "28P01"},
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
