package events

import (
	"encoding/base64"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// every is the group of a cursor with a position in the log of all groups.
const every = "*"

// cursor is a place in the events of one database: a position for each conductor group that has a log of its own.
type cursor struct {
	database string
	at       map[string]int64
}

// CursorError is a cursor from which events cannot continue. Gone is set if it was valid once, but the events that
// follow it are deleted.
type CursorError struct {
	Gone bool
	Text string
}

func (e *CursorError) Error() string { return e.Text }

func (c cursor) String() string {
	groups := make([]string, 0, len(c.at))
	for group, at := range c.at {
		groups = append(groups, strconv.Quote(group)+"="+strconv.FormatInt(at, 10))
	}
	sort.Strings(groups)
	return base64.RawURLEncoding.EncodeToString([]byte("1 " + c.database + " " + strings.Join(groups, " ")))
}

// maxCursor bounds the cursors that are read.
const maxCursor = 4096

// parseCursor reads a cursor that String has written.
func parseCursor(text string) (c cursor, err error) {
	bad := func(err error) (cursor, error) {
		return cursor{},
			&CursorError{Text: fmt.Sprintf("%.40q is no cursor of events (%v): send one as it came, or 0 for the "+
				"oldest event that is kept", text, err)}
	}
	if len(text) > maxCursor {
		return bad(errors.New("it is too long"))
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return bad(err)
	}
	version, rest, _ := strings.Cut(string(raw), " ")
	database, rest, found := strings.Cut(rest, " ")
	if version != "1" || database == "" || !found {
		return bad(errors.New("its form is another"))
	}
	c = cursor{database: database, at: map[string]int64{}}
	for rest != "" {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return bad(err)
		}
		group, err := strconv.Unquote(quoted)
		if err != nil {
			return bad(err)
		}
		number, next, _ := strings.Cut(strings.TrimPrefix(rest[len(quoted):], "="), " ")
		at, err := strconv.ParseInt(number, 10, 64)
		if err != nil || at < 0 {
			return bad(errors.New("a position is no number"))
		}
		c.at[group], rest = at, next
	}
	return c, nil
}
