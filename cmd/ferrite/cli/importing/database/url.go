package database

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// URL is where a database is, in the form of SQLAlchemy, which Ironic reads: kind[+driver]://[user[:password]@][host]
// [:port][/name][?option=value]. A file of SQLite needs no kind.
type URL struct {
	Kind     string // mysql, postgresql or sqlite
	User     string
	Password string
	Host     string // with its port
	Name     string // of the database; of SQLite the file
	Options  url.Values
}

// kinds are the schemes, without a driver, by the kind of database.
var kinds = map[string]string{
	"mysql": mySQL, "mariadb": mySQL, "postgresql": postgreSQL, "postgres": postgreSQL, "sqlite": sqlite,
}

// The kinds of databases.
const (
	mySQL      = "mysql"
	postgreSQL = "postgresql"
	sqlite     = "sqlite"
)

// forms are what a database may be given as.
const forms = "mysql://USER@HOST/NAME, postgresql://USER@HOST/NAME, sqlite:///FILE or a file of SQLite; " +
	"mysql+pymysql and other drivers of Python may be named, as in ironic.conf"

var errNoURL = errors.New("the value is neither a file nor a URL: expected " + forms)

// Parse reads a URL. Its errors show no password.
func Parse(where string) (URL, error) {
	scheme, rest, isURL := strings.Cut(where, "://")
	if !isURL {
		if _, err := os.Stat(where); err != nil && strings.Contains(where, "@") { // half a URL: an error would show it
			return URL{}, errNoURL
		}
		return URL{Kind: sqlite, Name: where}, nil
	}
	base, _, _ := strings.Cut(scheme, "+")
	kind, known := kinds[base]
	switch {
	case strings.ContainsAny(scheme, ":@"): // a password may come before the slashes
		return URL{}, errNoURL
	case !known:
		return URL{}, fmt.Errorf("%q is no kind of database: expected %s", scheme, forms)
	}
	if kind == sqlite {
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "?")
		return URL{Kind: sqlite, Name: name}, nil
	}
	u := URL{Kind: kind}
	login, rest, found := cutLogin(rest)
	if found {
		user, password, _ := strings.Cut(login, ":")
		u.User, u.Password = unquote(user), unquote(password)
	}
	rest, query, _ := strings.Cut(rest, "?")
	options, err := url.ParseQuery(query)
	if err != nil { // it would show the value
		return URL{}, errors.New("the options behind the question mark: expected NAME=VALUE&NAME=VALUE, escaped as in " +
			"URLs")
	}
	u.Password = cmp.Or(options.Get("password"), u.Password)
	options.Del("password")
	u.Options = options
	u.Host, u.Name, _ = strings.Cut(rest, "/")
	u.Name = cmp.Or(u.Name, u.Options.Get("dbname"))
	if u.Name == "" {
		return URL{}, fmt.Errorf("%s names no database: expected %s://USER@HOST/ironic", u, base)
	}
	return u, nil
}

// cutLogin cuts the user and the password off. As for SQLAlchemy, a password may have a slash or a question mark that
// is not escaped; as for its old releases, also an at sign.
func cutLogin(rest string) (login, after string, found bool) {
	at := strings.Index(rest, "@")
	if at < 0 {
		return "", rest, false
	}
	host, _, _ := strings.Cut(rest[at+1:], "?")
	host, _, _ = strings.Cut(host, "/")
	at += 1 + strings.LastIndex(host, "@") // nothing more for -1
	return rest[:at], rest[at+1:], true
}

// unquote leaves text as it is that is no escape, as SQLAlchemy does.
func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// String is the URL without its password and options.
func (u URL) String() string {
	if u.Kind == sqlite {
		return u.Name
	}
	user := u.User
	if user != "" {
		user += "@"
	}
	return u.Kind + "://" + user + u.Host + "/" + u.Name
}
