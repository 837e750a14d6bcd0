package api

import (
	"net/http"
	"slices"
	"strings"
)

// What a BMC has told (BIOS settings, firmware) is shown alike: a few parts of
// each row always, the usual ones unless ?fields= names others or ?detail= asks
// for all.

// toldColumns is which parts of the rows of a table are shown when.
type toldColumns struct {
	since           int      // microversion of ?detail= and ?fields=
	always          []string // whatever is asked for
	usual, detailed []string
}

// toldFields reads ?detail= and ?fields= of a request for rows of t.
func toldFields[T any](c *call, t *table[T], columns toldColumns) (selection, error) {
	q := c.QueryParams()
	if err := unexpected(sortedKeys(q), []string{"detail", "fields"}); err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(q) {
		if c.minor < columns.since {
			return nil, badRequest("Invalid query parameter ?%s=%s received.", name, q.Get(name))
		}
	}
	names, detail := columns.usual, false
	if q.Has("detail") {
		var err error
		if detail, err = parseBool("detail", q.Get("detail")); err != nil {
			return nil, err
		}
	}
	switch {
	case detail && q.Has("fields"):
		return nil, badRequest("Can not specify ?detail=True and fields in the same request.")
	case detail:
		names = columns.detailed
	case q.Has("fields"):
		names = strings.Split(q.Get("fields"), ",")
		if err := t.known(c.minor, names); err != nil {
			return nil, err
		}
	}
	return slices.Compact(t.pick(c.minor, slices.Concat(names, columns.always)...)), nil
}

// toldRow is one row with where it is found.
type toldRow[T any] struct {
	row  T
	path string // below /v1/, without a slash in front
}

// answerTold answers {"name": [rows]}.
func answerTold[T any](a *API, c *call, name string, t *table[toldRow[T]], chosen selection, rows []T, path func(T) string) error {
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		dst = append(append(append(dst, `{"`...), name...), `":[`...)
		for i, row := range rows {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = t.render(dst, chosen, &view[toldRow[T]]{of: &toldRow[T]{row, path(row)}, minor: c.minor, base: c.base()})
		}
		return append(dst, "]}"...)
	})
}
