package store

import (
	"strconv"
	"strings"
)

// dialect is the SQL that databases write differently. All else in a query is common
// to SQLite and PostgreSQL.
type dialect struct {
	// bind writes placeholders, which are ? and ?1 in our statements, as the database
	// has them.
	bind func(text string) string
	// among lists the texts of an argument that is a JSON array: the statement is
	// the same however many there are.
	among string
	// contains holds when a column contains an argument.
	contains func(column string) string
	// text is a member of the document, '' when it has none. The path has one or
	// two parts.
	text func(path ...string) string
	// flag is a member that is true or false. Unset sorts before false before true.
	flag func(path ...string) string
}

var sqliteDialect = dialect{
	bind:     func(text string) string { return text },
	among:    "SELECT value FROM json_each(?)",
	contains: func(column string) string { return "instr(" + column + ", ?) > 0" },
	text:     func(path ...string) string { return "coalesce(doc ->> '" + sqlitePath(path) + "', '')" },
	flag:     func(path ...string) string { return "coalesce(doc ->> '" + sqlitePath(path) + "', -1)" },
}

func sqlitePath(path []string) string {
	out := "$"
	for _, p := range path {
		out += "." + p
	}
	return out
}

// postgresDialect is for the store that is to come. Until then only a test builds
// statements with it.
var postgresDialect = dialect{
	bind:     bindDollars,
	among:    "SELECT jsonb_array_elements_text(?::jsonb)",
	contains: func(column string) string { return "strpos(" + column + ", ?) > 0" },
	text:     func(path ...string) string { return "coalesce(" + postgresPath(path) + ", '')" },
	flag: func(path ...string) string {
		return "coalesce((" + postgresPath(path) + ")::boolean::integer, -1)"
	},
}

func postgresPath(path []string) string {
	out := "doc"
	for i, p := range path {
		if i == len(path)-1 {
			return out + " ->> '" + p + "'"
		}
		out += " -> '" + p + "'"
	}
	return out
}

// bindDollars numbers the placeholders that have no number: $1, $2 and so on.
func bindDollars(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "?") {
		if i > 0 {
			out.WriteByte('$')
			if part == "" || part[0] < '1' || part[0] > '9' {
				out.WriteString(strconv.Itoa(i))
			}
		}
		out.WriteString(part)
	}
	return out.String()
}
