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
	exact := cmp.AllowUnexported(URL{})
	for where, want := range map[string]URL{
		"mysql+pymysql://ironic:pw@db/ironic?charset=utf8": {mySQL, "ironic", "pw", "db", "ironic",
			url.Values{"charset": {"utf8"}}, false},
		"mysql://db:3307/ironic":                   {mySQL, "", "", "db:3307", "ironic", nil, false},
		"mariadb+mysqldb://u@[2001:db8::1]:3306/i": {mySQL, "u", "", "[2001:db8::1]:3306", "i", nil, false},
		"mysql+pymysql://u:a%40b%2Fc@db/i":         {mySQL, "u", "a@b/c", "db", "i", nil, false},
		"mysql+pymysql://u:a/b?c:d@db/i":           {mySQL, "u", "a/b?c:d", "db", "i", nil, false},
		"mysql+pymysql://u:a@b@db/i?ssl_ca=/a@b":   {mySQL, "u", "a@b", "db", "i", url.Values{"ssl_ca": {"/a@b"}}, true},
		"mysql+pymysql://u:50%@db/i":               {mySQL, "u", "50%", "db", "i", nil, false},
		"mysql+pymysql://u:p+p@/i?unix_socket=/run/m.s": {mySQL, "u", "p+p", "", "i",
			url.Values{"unix_socket": {"/run/m.s"}}, false},
		"postgresql+psycopg2://u:p@db:5432/i?sslmode=req": {postgreSQL, "u", "p", "db:5432", "i",
			url.Values{"sslmode": {"req"}}, false},
		"postgres://db/i?password=p": {postgreSQL, "", "p", "db", "i", nil, false},
		"postgresql:///?dbname=i&host=/run": {postgreSQL, "", "", "", "i",
			url.Values{"host": {"/run"}}, false},
		"mysql+pymysql://u:100%&p%40s%zs%c3%A9%@db/i": {mySQL, "u", "100%&p@s%zs\u00e9%", "db", "i", nil, false},
		"mysql+pymysql://u%40x:p@db/i":                {mySQL, "u@x", "p", "db", "i", nil, false},
		"mysql+pymysql://u:12/34?x=1@db/i":            {mySQL, "u", "12/34?x=1", "db", "i", nil, false},
		"mysql+pymysql:///i?unix_socket=/run/my@1.sock": {mySQL, "", "", "", "i",
			url.Values{"unix_socket": {"/run/my@1.sock"}}, false},
		"mysql://u@db/i?ssl_ca=/a@b/c":    {mySQL, "u", "", "db", "i", url.Values{"ssl_ca": {"/a@b/c"}}, false},
		"mysql://db:3306/i?ssl_ca=/a@b/c": {mySQL, "", "", "db:3306", "i", url.Values{"ssl_ca": {"/a@b/c"}}, false},
		"mysql://u:p@db/i?charset=utf8&plugin=dbc": {mySQL, "u", "p", "db", "i",
			url.Values{"charset": {"utf8"}, "plugin": {"dbc"}}, false},
		"postgresql:///i?host=/run/pg&user=u&password=s3cr@t": {postgreSQL, "u", "s3cr@t", "", "i",
			url.Values{"host": {"/run/pg"}}, false},
		"postgresql://db/i?user=u&password=p@ss":          {postgreSQL, "u", "p@ss", "db", "i", nil, false},
		"postgresql://db:5432/i?user=u&password=p@s/s":    {postgreSQL, "u", "p@s/s", "db:5432", "i", nil, false},
		"postgresql://[::1]:5432?dbname=i&password=p@s/s": {postgreSQL, "", "p@s/s", "[::1]:5432", "i", nil, false},
		"postgresql://a:1,b:2/i?password=p@ss":            {postgreSQL, "", "p@ss", "a:1,b:2", "i", nil, false},
		"postgresql://u:p@/i?password=q&user=v":           {postgreSQL, "v", "q", "", "i", nil, true},
		"sqlite:////var/lib/ironic/ironic.sqlite":         {Kind: sqlite, Name: "/var/lib/ironic/ironic.sqlite"},
		"sqlite:///ironic.sqlite?timeout=5":               {Kind: sqlite, Name: "ironic.sqlite"},
		"ironic.sqlite":                                   {Kind: sqlite, Name: "ironic.sqlite"},
	} {
		got, err := Parse(where)
		if len(got.Options) == 0 {
			got.Options = nil
		}
		if err != nil || !cmp.Equal(got, want, exact) {
			t.Errorf("%s: %v, %s", where, err, cmp.Diff(want, got, exact))
		}
	}
}

// TestString: parts that may be a piece of a password are not shown.
func TestString(t *testing.T) {
	for where, want := range map[string]string{
		"mysql+pymysql://u:p@db:3306/i?charset=utf8":           "mysql://u@db:3306/i",
		"mysql://u:a@b@db/i":                                   "mysql://u@db/i",
		"mysql://u:a@b@db/i?ssl_ca=/a@b":                       "mysql://******",
		"mysql://u:a@hunter?x=y@db/i?ssl_ca=/a@b":              "an option is not known here",
		"mysql://a&password=hunter@db/i":                       "mysql://******@db/i",
		"mysql://ironic:hunter/ironic":                         "no HOST or HOST:PORT",
		"mysql://ironic:1234567/ironic":                        "no HOST or HOST:PORT",
		"mysql://db,hunter:x/ironic":                           "no HOST or HOST:PORT",
		"mysql://u:a@hunter/b@db/i":                            "no name of a database",
		"postgresql:///i&password=hunter":                      "no name of a database",
		"postgresql:///i?host=/run/pg&user=u&password=p@unter": "postgresql://u@/i",
		"postgresql://db/i?user=u&password=p@hunter":           "postgresql://u@db/i",
		"postgresql://db:5432/i?user=u&password=p@hunter":      "postgresql://u@db:5432/i",
		"postgresql://db/i?password=p&hunter=x":                "an option is not known here",
		"postgresql://db/i?password=p&user=hunter":             "postgresql://******",
		"postgresql://a:1,b:2/i":                               "postgresql://a:1,b:2/i",
	} {
		u, err := Parse(where)
		got := u.String()
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || !strings.Contains(got, want) || strings.Contains(got, "hunter") {
			t.Errorf("%s: %s; expected %s", where, got, want)
		}
	}
}

// TestCheckOptions: an option that might matter is refused, with advice on another one.
func TestCheckOptions(t *testing.T) {
	for where, want := range map[string]string{
		"mysql://u@db/i?ssl_capath=/etc/ssl":               "the option ssl_capath: it is not supported here: give ssl_ca",
		"mysql://u@db/i?ssl_cipher=A&ssl_ca=a":             "give ssl_ca=FILE instead",
		"mysql://u@db/i?read_default_file=/etc/my.cnf":     "not read here: give ssl_ca=FILE or unix_socket=FILE instead",
		"mysql://u@db/i?read_default_group=client":         "not read here: give ssl_ca=FILE or unix_socket=FILE instead",
		"mysql://u@db/i?ssl_key_password=p":                "give ssl_key=FILE with a key without one",
		"mysql://u@db/i?sslmode=verify-full":               "the option sslmode is not known here: leave it out",
		"mysql://u@db/i?ssl_ca=a&ssl_ca=b":                 "the option ssl_ca is given 2 times",
		"postgresql://u@db/i?ssl_mode=VERIFY_CA":           "the option ssl_mode is not known here",
		"postgresql://u@db/i?password=a&password=b":        "the option password is given 2 times",
		"postgresql://u@db/i?sslcrl=/crl":                  "give sslmode=verify-full",
		"postgresql://u@db/i?gssencmode=require":           "the option gssencmode: expected disable or prefer",
		"postgresql://u@db/i?ssl_min_protocol_version=1.3": "expected TLSv1 or TLSv1.1 or TLSv1.2",
		"postgresql://u@/i?requirepeer=postgres":           "the option requirepeer: the user of a socket's server",
		"postgresql://u@db/i?keepalives=1&keepalives_idle=9&gssencmode=disable&connect_timeout=5&plugin=d": "",
	} {
		if _, err := Parse(where); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %s", where, err, want)
		}
	}
}

// TestNoPassword: no error shows a password, whether Parse returns it, a driver or a server.
func TestNoPassword(t *testing.T) {
	for where, want := range map[string]string{
		"ironic:hunter2@db/ironic":                                       "neither a file nor a URL",
		"ironic:hunter2":                                                 "neither a file nor a URL",
		"host=db password=hunter2":                                       "neither a file nor a URL",
		"mysql://ironic:hunter2/ironic":                                  "no HOST or HOST:PORT",
		"postgresql://127.0.0.1:1/i?user=u&password=a@hunter2":           "postgresql://u@127.0.0.1:1/i: ",
		"mysql://u:pw@hunter2/ironic?ssl_ca=/nowhere@b":                  "mysql://******: the option ssl_ca: open ",
		"postgresql://u@db/i?sslpassword=hunter2&sslcert=/no&sslkey=/no": "open /no",
		"postgresql://u@127.0.0.1:1/i?port=hunter2":                      "expected ports",
		"ironic:hunter2@://db/ironic":                                    "neither a file nor a URL",
		"oracle://u:hunter2@db/ironic":                                   `"oracle" is no kind of database`,
		"mysql://u:hunter2@db":                                           "mysql://u@db/ names no database",
		"mysql://u:hunter2@db/i?password=%zz":                            "expected NAME=VALUE",
		"mysql://u:hunter2@db/i?read_default_file=/etc/my.cnf":           "the option read_default_file: that file is not read here",
		"mysql://u:hunter2@db/i?ssl_mode=hunter3":                        "expected one of DISABLED",
		"mysql://u:hunter2@db/i?ssl_verify_cert=maybe":                   "expected true or false",
		"mysql://u:hunter2@db/i?ssl_ca=/nowhere":                         "the option ssl_ca: open /nowhere",
		"mysql://u:hunter2@127.0.0.1:1/i":                                "mysql://u@127.0.0.1:1/i: dial tcp",
		"mysql://hunter2:hunter2@127.0.0.1:1/i":                          "******@127.0.0.1:1/i: dial tcp",
		"postgresql://u:hunter2@127.0.0.1:1/i":                           "postgresql://u@127.0.0.1:1/i: ",
		"postgresql://u:hunter2@db/i?sslmode=hunter2":                    "sslmode",
		"sqlite:////nowhere/hunter":                                      "/nowhere/hunter: ",
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
