package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// dialect is the SQL that databases write differently. All else in a statement is common
// to SQLite and PostgreSQL.
type dialect struct {
	// bind writes placeholders, which are ? and ?1 in our statements, in the database's syntax.
	bind func(text string) string
	// args converts the arguments of a statement to the database's types.
	args func(args []any) []any
	// read is the text of a column that args has written.
	read func(text string) string
	// among lists the texts of an argument that list makes: the statement is the same
	// however many there are.
	among string
	list  func(values []string) any
	// contains holds when a column contains an argument.
	contains func(column string) string
	// text is a member of the document, '' when it has none. The path has one or
	// two parts.
	text func(path ...string) string
	// flag is a member that is true or false. Unset sorts before false before true.
	flag func(path ...string) string
	// isJSON holds for a document that is JSON; it is true in a database that cannot check.
	isJSON string
	// created is the JSON of the document's member created_at.
	created string
	// position is the column that has the position of an event.
	position string
	// row is the column that numbers the rows of every table.
	row string
	// forUpdate ends a SELECT, and locks its row until the end of the transaction.
	forUpdate string
	// lock keeps a key from other transactions until the end of this one.
	lock func(t *tx, key string) error
	// forget leaves no deleted bytes in the database's files.
	forget func(ctx context.Context, db *sql.DB, step func(string) error) error
}

var sqliteDialect = dialect{
	bind:  func(text string) string { return text },
	args:  func(args []any) []any { return args },
	read:  func(text string) string { return text },
	among: "SELECT value FROM json_each(?)",
	list: func(values []string) any {
		list, _ := json.Marshal(append([]string{}, values...)) // of nil "null", which is a row; texts never fail
		return string(list)
	},
	contains: func(column string) string { return "instr(" + column + ", ?) > 0" },
	text:     func(path ...string) string { return "coalesce(doc ->> '" + sqlitePath(path) + "', '')" },
	flag:     func(path ...string) string { return "coalesce(doc ->> '" + sqlitePath(path) + "', -1)" },
	isJSON:   "json_valid(doc)",
	created:  "doc -> '$.created_at'",
	position: "id",
	row:      "rowid",
	lock:     func(*tx, string) error { return nil }, // only one transaction writes at a time
	forget:   forgetInSQLite,
}

func sqlitePath(path []string) string {
	out := "$"
	for _, p := range path {
		out += "." + p
	}
	return out
}

var postgresDialect = dialect{
	bind:     boundDollars,
	args:     postgresArgs,
	read:     readControls.Replace,
	among:    "SELECT unnest(?::text[])",
	list:     func(values []string) any { return cleanTexts(values) },
	contains: func(column string) string { return "strpos(" + column + ", ?) > 0" },
	text:     func(path ...string) string { return "coalesce(" + postgresPath(path) + `, '') COLLATE "C"` },
	flag: func(path ...string) string {
		return "coalesce((" + postgresPath(path) + ")::boolean::integer, -1)"
	},
	isJSON:    "true",
	created:   "(" + postgresDoc + " -> 'created_at')::text",
	position:  "position",
	row:       "id",
	forUpdate: " FOR UPDATE",
	lock: func(t *tx, key string) error {
		_, err := t.exec("SELECT pg_advisory_xact_lock(?, hashtext(?))", machineLocks, key)
		return err
	},
	forget: forgetInPostgres,
}

// postgresDoc is the document as JSON. PostgreSQL has no NUL in texts, and refuses the
// whole document for one; only members without are looked for. Of a backslash before the
// escape the document stays whole, too.
const postgresDoc = `replace(doc, '\u0000', '\ufffd')::json`

func postgresPath(path []string) string {
	out := postgresDoc
	for i, p := range path {
		if i == len(path)-1 {
			return out + " ->> '" + p + "'"
		}
		out += " -> '" + p + "'"
	}
	return out
}

// Texts in PostgreSQL have no NUL: it becomes \x01\x02, and \x01 becomes \x01\x03, so that
// different texts stay different, and in their order. A document's JSON has neither.
var (
	writeControls = strings.NewReplacer("\x00", "\x01\x02", "\x01", "\x01\x03")
	readControls  = strings.NewReplacer("\x01\x02", "\x00", "\x01\x03", "\x01")
)

func cleanText(text string) string {
	if strings.IndexByte(text, 0) >= 0 || strings.IndexByte(text, 1) >= 0 {
		text = writeControls.Replace(text)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

func cleanTexts(values []string) []string {
	clean := make([]string, len(values))
	for i, v := range values {
		clean[i] = cleanText(v)
	}
	return clean
}

// postgresArgs cleans the texts.
func postgresArgs(args []any) []any {
	clean := make([]any, len(args))
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			arg = cleanText(text)
		}
		clean[i] = arg
	}
	return clean
}

// dollars keeps the texts of fixed statements, as bindDollars has made them.
var dollars sync.Map

func boundDollars(text string) string {
	if bound, ok := dollars.Load(text); ok {
		return bound.(string) //nolint:forcetypeassert // only texts are stored
	}
	bound := bindDollars(text)
	dollars.Store(text, bound)
	return bound
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
