package database

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestPostgresConfig: servers in all forms of SQLAlchemy and libpq.
func TestPostgresConfig(t *testing.T) {
	for where, want := range map[string]string{
		"postgresql://u@db/i?sslmode=disable":                                "u i db:5432",
		"postgresql://u@db:6/i?sslmode=disable":                              "u i db:6",
		"postgresql://u@[::1]:6/i?sslmode=disable":                           "u i ::1:6",
		"postgresql://u@a:1,b,[::1]:3/i?sslmode=disable":                     "u i a:1 b:5432 ::1:3",
		"postgresql+psycopg2://u:p@/i?host=a:5432&host=b:6&sslmode=disable":  "u i a:5432 b:6",
		"postgresql+psycopg2://u:p@/i?host=a&host=b&sslmode=disable":         "u i a:5432 b:5432",
		"postgresql://u@/i?host=a,b&port=1,2&sslmode=disable":                "u i a:1 b:2",
		"postgresql://u@/i?host=a&host=b&port=1&port=2&sslmode=disable":      "u i a:1 b:2",
		"postgresql://u@db:6/i?host=a,b&sslmode=disable":                     "u i a:6 b:6",
		"postgresql://u@/i?host=[::1]:6,fe80::1&sslmode=disable":             "u i ::1:6 fe80::1:5432",
		"postgresql://u@/i?host=/run/pg":                                     "u i /run/pg:5432",
		"postgresql://u@:6/i?host=/run/pg":                                   "u i /run/pg:6",
		"postgresql://u@%2Frun%2Fpg/i":                                       "u i /run/pg:5432",
		"postgresql://u@/i?hostaddr=192.0.2.1&sslmode=disable":               "u i 192.0.2.1:5432",
		"postgresql://db/i?user=a+b'c%5C&sslmode=disable":                    `a b'c\ i db:5432`,
		"postgresql://u@db/i?sslmode=disable&keepalives=1&gssencmode=prefer": "u i db:5432",
		"postgresql://u@db/i?sslmode=disable&options=-c+search_path%3Da+b":   "u i db:5432 options=-c search_path=a b",
		"postgresql://u@db/i?sslmode=disable&application_name=a%2Bb":         "u i db:5432 application_name=a+b",
	} {
		conf := config(t, where)
		got := fmt.Sprintf("%s %s %s:%d", conf.User, conf.Database, conf.Host, conf.Port)
		for _, f := range conf.Fallbacks {
			got += fmt.Sprintf(" %s:%d", f.Host, f.Port)
		}
		if conf.RuntimeParams["client_encoding"] != "UTF8" {
			t.Errorf("%s: %v, expected UTF8", where, conf.RuntimeParams)
		}
		delete(conf.RuntimeParams, "client_encoding")
		for k, v := range conf.RuntimeParams {
			got += " " + k + "=" + v
		}
		if got != want {
			t.Errorf("%s: %s; expected %s", where, got, want)
		}
	}
}

func config(t *testing.T, where string) *pgx.ConnConfig {
	t.Helper()
	u, err := Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	conf, err := postgresConfig(u, time.Second)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	return conf
}

// TestHostaddr: a server is found at its address, and its certificate is for its name.
func TestHostaddr(t *testing.T) {
	conf := config(t, "postgresql://u@a,b/i?hostaddr=192.0.2.1,&sslmode=verify-full")
	if conf.TLSConfig == nil || conf.TLSConfig.ServerName != "a" {
		t.Errorf("TLS of %+v, expected the name a", conf.TLSConfig)
	}
	if at, err := conf.LookupFunc(t.Context(), "a"); err != nil || strings.Join(at, " ") != "192.0.2.1" {
		t.Errorf("a is at %v, %v", at, err)
	}
}

// TestPostgresErrors: options that contradict each other, and a CA that nothing would use.
func TestPostgresErrors(t *testing.T) {
	for where, want := range map[string]string{
		"postgresql://u@/i?host=a:1&port=2":                       "both have ports",
		"postgresql://u@/i?host=a,b,c&port=1,2":                   "2 ports are given for 3 hosts",
		"postgresql://u@/i?host=a:x":                              "expected ports from 1 to 65535",
		"postgresql://u@/i?host=a&port=99999":                     "expected ports from 1 to 65535",
		"postgresql://u@a,b/i?hostaddr=192.0.2.1":                 "hostaddr has 1 addresses for 2 hosts",
		"postgresql://u@db/i?sslrootcert=/ca":                     "sslrootcert checks nothing",
		"postgresql://u@db/i?sslrootcert=/ca&sslmode=prefer":      "sslrootcert checks nothing",
		"postgresql://u@db/i?sslrootcert=/no&sslmode=verify-full": "unable to read CA file",
	} {
		u, err := Parse(where)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := postgresConfig(u, time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %s", where, err, want)
		}
	}
}
