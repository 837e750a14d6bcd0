package database

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// option is the treatment of an option in a URL. The zero value is ignored: a reader does not need the option.
type option struct {
	counts  bool
	many    bool     // it may be given several times
	values  []string // of an option without counts: the values that are ignored
	instead string   // advice for an option that is refused
}

var (
	ignored = option{}
	counts  = option{counts: true}
	list    = option{counts: true, many: true}
	unread  = option{instead: "that file is not read here: give ssl_ca=FILE or unix_socket=FILE instead, as it says"}
	noCheck = option{instead: "it is not supported here: give ssl_ca=FILE instead, which checks the server"}
	noCRL   = option{instead: "lists of revoked certificates are not read here: leave it out, and give " +
		"sslmode=verify-full and sslrootcert=FILE"}
)

// options is THE table of options. MySQL has the options of the Python drivers PyMySQL and mysqlclient, PostgreSQL has
// libpq's, and both have SQLAlchemy's. Other options are refused: they might matter.
var options = map[string]map[string]option{
	mySQL: {
		"password": counts, "unix_socket": counts, "ssl": counts, "ssl_mode": counts, "ssl_disabled": counts,
		"ssl_ca": counts, "ssl_cert": counts, "ssl_key": counts, "ssl_verify_cert": counts,
		"ssl_verify_identity": counts, "ssl_check_hostname": counts,

		"autocommit": ignored, "binary_prefix": ignored, "charset": ignored, "client_flag": ignored,
		"collation": ignored, "compress": ignored, "connect_timeout": ignored, "init_command": ignored,
		"local_infile": ignored, "max_allowed_packet": ignored, "plugin": ignored, "program_name": ignored,
		"read_timeout": ignored, "sql_mode": ignored, "use_unicode": ignored, "write_timeout": ignored,

		"read_default_file": unread, "read_default_group": unread,
		"ssl_capath": noCheck, "ssl_cipher": noCheck, "ssl_crl": noCheck, "ssl_crlpath": noCheck,
		"server_public_key": noCheck,
		"ssl_key_password":  {instead: "keys with a password are not read here: give ssl_key=FILE with a key without one"},
	},
	postgreSQL: {
		"application_name": counts, "channel_binding": counts, "dbname": counts, "krbsrvname": counts,
		"max_protocol_version": counts, "min_protocol_version": counts, "options": counts, "passfile": counts,
		"password": counts, "require_auth": counts, "service": counts, "servicefile": counts, "sslcert": counts,
		"sslcertmode": counts, "sslkey": counts, "sslmode": counts, "sslnegotiation": counts, "sslpassword": counts,
		"sslrootcert": counts, "sslsni": counts, "target_session_attrs": counts, "user": counts,
		"host": list, "hostaddr": list, "port": list,

		"client_encoding": ignored, "connect_timeout": ignored, "fallback_application_name": ignored,
		"gssdelegation": ignored, "gsslib": ignored, "keepalives": ignored, "keepalives_count": ignored,
		"keepalives_idle": ignored, "keepalives_interval": ignored, "load_balance_hosts": ignored, "plugin": ignored,
		"ssl_max_protocol_version": ignored, "sslcompression": ignored, "tcp_user_timeout": ignored,
		"gssencmode":               {values: []string{"disable", "prefer"}},
		"ssl_min_protocol_version": {values: []string{"TLSv1", "TLSv1.1", "TLSv1.2"}}, // 1.2 is the least of Go's

		"sslcrl": noCRL, "sslcrldir": noCRL,
		"requirepeer": {instead: "the user of a socket's server is not checked here: leave it out"},
	},
}

// checkOptions refuses options that might matter. An option is named if no piece of a password can be taken for it.
func checkOptions(kind string, given url.Values, named bool) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		o, known := options[kind][name]
		switch {
		case !known:
			return unknownOption(kind, name, named)
		case o.instead != "":
			return fmt.Errorf("the option %s: %s", name, o.instead)
		case len(given[name]) > 1 && o.counts && !o.many:
			return fmt.Errorf("the option %s is given %d times: expected it once", name, len(given[name]))
		case o.values != nil && !slices.Contains(o.values, given.Get(name)):
			return fmt.Errorf("the option %s: expected %s, since no other value is supported here; leave it out", name,
				strings.Join(o.values, " or "))
		}
	}
	return nil
}

func unknownOption(kind, name string, named bool) error {
	var used []string
	for o, is := range options[kind] {
		if is.counts {
			used = append(used, o)
		}
	}
	slices.Sort(used)
	which := "an option"
	if named {
		which = "the option " + name
	}
	return fmt.Errorf("%s is not known here: leave it out; the options that count are %s", which,
		strings.Join(used, ", "))
}
