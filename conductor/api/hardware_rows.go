package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
)

// Lists of BIOS settings and firmware components share their form. A few parts of each row are always shown. ?fields=
// chooses the others, ?detail= shows all, and without either the usual ones are shown.

// rowColumns lists the parts of the rows of a table.
type rowColumns struct {
	since           int      // microversion of ?detail= and ?fields=
	always          []string // with any arguments
	usual, detailed []string
}

// selectedRowFields reads ?detail= and ?fields= of a request for rows of t.
func selectedRowFields[T any](c *rest.Call, t *rest.Table[T], columns rowColumns) (rest.Selection, error) {
	q := c.QueryParams()
	if err := rest.Unexpected(rest.SortedKeys(q), []string{"detail", "fields"}); err != nil {
		return nil, err
	}
	for _, name := range rest.SortedKeys(q) {
		if c.Minor < columns.since {
			return nil, rest.BadRequest("Invalid query parameter ?%s=%s received.", name, q.Get(name))
		}
	}
	names, detail := columns.usual, false
	if q.Has("detail") {
		var err error
		if detail, err = rest.ParseBool("detail", q.Get("detail")); err != nil {
			return nil, err
		}
	}
	switch {
	case detail && q.Has("fields"):
		return nil, rest.BadRequest("Can not specify ?detail=True and fields in the same request.")
	case detail:
		names = columns.detailed
	case q.Has("fields"):
		names = strings.Split(q.Get("fields"), ",")
		if err := t.Known(c.Minor, names); err != nil {
			return nil, err
		}
	}
	return slices.Compact(t.Pick(c.Minor, slices.Concat(names, columns.always)...)), nil
}

// hardwareRow is one row with where it is found.
type hardwareRow[T any] struct {
	row  T
	path string // below /v1/, without a slash in front
}

// answerRows answers {"name": [rows]}.
func answerRows[T any](a *access, c *rest.Call, name string, t *rest.Table[hardwareRow[T]], chosen rest.Selection,
	rows []T, path func(T) string) error {
	return a.Buffer(c, http.StatusOK, func(dst []byte) []byte {
		dst = append(append(append(dst, `{"`...), name...), `":[`...)
		for i, row := range rows {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = t.Render(dst, chosen,
				&rest.View[hardwareRow[T]]{Of: &hardwareRow[T]{row, path(row)}, Minor: c.Minor, Base: c.BaseURL()})
		}
		return append(dst, "]}"...)
	})
}
