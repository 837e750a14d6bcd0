package database

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
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
	vague    bool // where the password ends is not certain: at signs follow that are not escaped
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

// forms lists the accepted forms of a database's URL.
const forms = "mysql://USER@HOST/NAME, postgresql://USER@HOST/NAME, sqlite:///FILE or a file of SQLite; " +
	"mysql+pymysql and other drivers of Python may be named, as in ironic.conf"

// The errors show nothing of a URL: a password that is not escaped may be in any part of it.
var (
	errNoURL  = errors.New("the value is neither a file nor a URL: expected " + forms)
	errNoHost = errors.New("the part before the name of the database is no HOST or HOST:PORT" + form)
	errNoName = errors.New("the part behind the host is no name of a database" + form)
)

// form is the remedy of both.
const form = ": expected USER:PASSWORD@HOST:PORT/NAME?OPTION=VALUE; in a password, @ is escaped as %40, / as %2F, " +
	"? as %3F, and % as %25"

// Parse reads a URL. Its errors show no password.
func Parse(where string) (URL, error) {
	scheme, rest, isURL := strings.Cut(where, "://")
	if !isURL {
		if _, err := os.Stat(where); err != nil && strings.ContainsAny(where, "@:=") { // half a URL: an error would show it
			return URL{}, errNoURL
		}
		return URL{Kind: sqlite, Name: where}, nil
	}
	base, _, _ := strings.Cut(scheme, "+")
	kind, known := kinds[base]
	switch {
	case strings.ContainsAny(scheme, ":@="): // a password may come before the slashes
		return URL{}, errNoURL
	case !known:
		return URL{}, fmt.Errorf("%q is no kind of database: expected %s", scheme, forms)
	}
	if kind == sqlite {
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "?")
		return URL{Kind: sqlite, Name: name}, nil
	}
	return parseServer(kind, rest)
}

// parseServer reads the part behind the slashes.
func parseServer(kind, rest string) (URL, error) {
	u := URL{Kind: kind}
	login, rest := cutLogin(kind, rest)
	user, password, protected := strings.Cut(login, ":")
	u.User, u.Password = unquote(user), unquote(password)
	u.vague = protected && strings.Contains(rest, "@")
	rest, query, _ := strings.Cut(rest, "?")
	u.Host, u.Name, _ = strings.Cut(rest, "/")
	switch {
	case !isHost(kind, u.Host):
		return URL{}, errNoHost
	case strings.ContainsAny(u.Name, "@:&=/"):
		return URL{}, errNoName
	}
	options, err := url.ParseQuery(query)
	if err != nil { // it would show the value
		return URL{}, errors.New("the options behind the question mark: expected NAME=VALUE&NAME=VALUE, escaped as in " +
			"URLs")
	}
	if err := checkOptions(kind, options, !u.vague && !options.Has("password")); err != nil {
		return URL{}, err
	}
	for name, field := range map[string]*string{"user": &u.User, "password": &u.Password, "dbname": &u.Name} {
		*field = cmp.Or(options.Get(name), *field) // as for libpq, the option counts
		options.Del(name)
	}
	u.Options, u.vague = options, u.vague || namedBehindPassword(query)
	if u.Name == "" {
		return URL{}, fmt.Errorf("%s names no database: expected %s://USER@HOST/ironic", u, kind)
	}
	return u, nil
}

// namedBehindPassword is whether options behind a password are shown: an ampersand of it may not be escaped.
func namedBehindPassword(query string) bool {
	_, behind, _ := strings.Cut(query, "password=")
	_, behind, _ = strings.Cut(behind, "&")
	shown, err := url.ParseQuery(behind)
	return err != nil || shown.Has("user") || shown.Has("dbname")
}

// String is the URL without its password and options. Parts that may be a piece of a password are masked.
func (u URL) String() string {
	user, name := u.User, u.Name
	switch {
	case u.Kind == sqlite:
		return name
	case u.vague:
		return u.Kind + "://" + nodeapi.Masked
	case u.isUserOdd():
		user = nodeapi.Masked
	}
	if user != "" {
		user += "@"
	}
	return u.Kind + "://" + user + u.Host + "/" + name
}

// isUserOdd is whether a user may be a piece of options that a password is among.
func (u URL) isUserOdd() bool { return strings.ContainsAny(u.User, "/?:&=") }

// secrets are the texts that no error may show.
func (u URL) secrets() []string {
	all := []string{u.Password}
	if u.isUserOdd() {
		all = append(all, u.User)
	}
	if u.vague {
		all = append(all, u.Host, u.Name)
		for _, values := range u.Options {
			all = append(all, values...)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
