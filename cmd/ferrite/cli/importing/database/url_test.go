package database

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
)

// TestParse: URLs as they are in configurations of Ironic.
func TestParse(t *testing.T) {
	for where, want := range map[string]URL{
		"mysql+pymysql://ironic:pw@db/ironic?charset=utf8": {mySQL, "ironic", "pw", "db", "ironic",
			url.Values{"charset": {"utf8"}}},
		"mysql://db:3307/ironic":                   {mySQL, "", "", "db:3307", "ironic", nil},
		"mariadb+mysqldb://u@[2001:db8::1]:3306/i": {mySQL, "u", "", "[2001:db8::1]:3306", "i", nil},
		"mysql+pymysql://u:a%40b%2Fc@db/i":         {mySQL, "u", "a@b/c", "db", "i", nil},
		"mysql+pymysql://u:a/b?c:d@db/i":           {mySQL, "u", "a/b?c:d", "db", "i", nil},
		"mysql+pymysql://u:a@b@db/i?ssl_ca=/a@b":   {mySQL, "u", "a@b", "db", "i", url.Values{"ssl_ca": {"/a@b"}}},
		"mysql+pymysql://u:50%@db/i":               {mySQL, "u", "50%", "db", "i", nil},
		"mysql+pymysql://u:p+p@/i?unix_socket=/run/m.s": {mySQL, "u", "p+p", "", "i",
			url.Values{"unix_socket": {"/run/m.s"}}},
		"postgresql+psycopg2://u:p@db:5432/i?sslmode=req": {postgreSQL, "u", "p", "db:5432", "i",
			url.Values{"sslmode": {"req"}}},
		"postgres://db/i?password=p": {postgreSQL, "", "p", "db", "i", nil},
		"postgresql:///?dbname=i&host=/run": {postgreSQL, "", "", "", "i",
			url.Values{"dbname": {"i"}, "host": {"/run"}}},
		"sqlite:////var/lib/ironic/ironic.sqlite": {Kind: sqlite, Name: "/var/lib/ironic/ironic.sqlite"},
		"sqlite:///ironic.sqlite?timeout=5":       {Kind: sqlite, Name: "ironic.sqlite"},
		"ironic.sqlite":                           {Kind: sqlite, Name: "ironic.sqlite"},
	} {
		got, err := Parse(where)
		if len(got.Options) == 0 {
			got.Options = nil
		}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %s", where, err, cmp.Diff(want, got))
		}
	}
}

// TestNoPassword: no error shows a password, whether Parse returns it, a driver or a server.
func TestNoPassword(t *testing.T) {
	for where, want := range map[string]string{
		"ironic:hunter2@db/ironic":                             "neither a file nor a URL",
		"ironic:hunter2@://db/ironic":                          "neither a file nor a URL",
		"oracle://u:hunter2@db/ironic":                         `"oracle" is no kind of database`,
		"mysql://u:hunter2@db":                                 "mysql://u@db/ names no database",
		"mysql://u:hunter2@db/i?password=%zz":                  "expected NAME=VALUE",
		"mysql://u:hunter2@db/i?read_default_file=/etc/my.cnf": "the option read_default_file is not known here",
		"mysql://u:hunter2@db/i?ssl_mode=hunter3":              "expected one of DISABLED",
		"mysql://u:hunter2@db/i?ssl_verify_cert=maybe":         "expected true or false",
		"mysql://u:hunter2@db/i?ssl_ca=/nowhere":               "the option ssl_ca: open /nowhere",
		"mysql://u:hunter2@127.0.0.1:1/i":                      "mysql://u@127.0.0.1:1/i: dial tcp",
		"mysql://hunter2:hunter2@127.0.0.1:1/i":                "******@127.0.0.1:1/i: dial tcp",
		"postgresql://u:hunter2@127.0.0.1:1/i":                 "postgresql://u@127.0.0.1:1/i: ",
		"postgresql://u:hunter2@db/i?sslmode=hunter2":          "sslmode",
		"sqlite:////nowhere/hunter":                            "/nowhere/hunter: ",
	} {
		err := Read(t.Context(), Config{URL: where, Timeout: time.Second}, translate.Secrets{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; expected %s", where, err, want)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, conf := range []Config{{URL: other}, {URL: other, Password: "hunter2"}} {
		if err := Read(t.Context(), conf, translate.Secrets{}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", other, err)
		}
	}
}
