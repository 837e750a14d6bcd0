package database

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// cutLogin cuts the user and the password off. As for SQLAlchemy, a password may have a slash or a question mark that
// is not escaped; as for its old releases, also an at sign. A user has neither a slash nor a question mark: if one
// comes before any colon, an at sign behind it is one of an option.
func cutLogin(kind, rest string) (login, after string) {
	at, end := strings.Index(rest, "@"), strings.IndexAny(rest, ":@/?")
	if at < 0 || rest[end] == '/' || rest[end] == '?' || isAddressFirst(kind, rest) {
		return "", rest
	}
	host, _, _ := strings.Cut(rest[at+1:], "?")
	host, _, _ = strings.Cut(host, "/")
	at += 1 + strings.LastIndex(host, "@") // nothing more for -1
	return rest[:at], rest[at+1:]
}

// addressFirst is hosts with ports, a name, and the first option.
var addressFirst = regexp.MustCompile(`^(?:\[[^]/?@]*\]|[^]/?@:[,]*)(?::\d+)?` +
	`(?:,(?:\[[^]/?@]*\]|[^]/?@:[,]*)(?::\d+)?)*(?:/[^?@]*)?\?(\w+)=`)

// isAddressFirst distinguishes a port from a password. HOST:PORT/NAME?password=a@b and USER:12/34?567@HOST/NAME look
// alike; a known option is never part of a password.
func isAddressFirst(kind, rest string) bool {
	found := addressFirst.FindStringSubmatch(rest)
	if found == nil {
		return false
	}
	_, known := options[kind][found[1]]
	before, _, _ := strings.Cut(rest, "@")
	return known || strings.Contains(before, "&password=")
}

var (
	oneHost    = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^][:@&=,\s]*)(?::(\d*))?$`)
	escapement = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)
)

// isHost is whether text is HOST[:PORT], for PostgreSQL several with commas. Otherwise it may be USER:PASSWORD of a URL
// without a host.
func isHost(kind, text string) bool {
	hosts := []string{text}
	if kind == postgreSQL {
		hosts = strings.Split(text, ",")
	}
	for _, h := range hosts {
		found := oneHost.FindStringSubmatch(h)
		if found == nil || !isPort(found[1]) {
			return false
		}
	}
	return true
}

// isPort is whether text is a port, or "" for the usual one.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// unquote decodes each escape. As for Python, text that is no escape stays as it is.
func unquote(s string) string {
	return escapement.ReplaceAllStringFunc(s, func(escapes string) string {
		plain, err := hex.DecodeString(strings.ReplaceAll(escapes, "%", ""))
		if err != nil { // the pattern has hexadecimal digits alone
			return escapes
		}
		return string(plain)
	})
}
