package rest

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxLimit is the longest page, and the default.
const maxLimit = 1000

// Page is what all lists understand.
type Page struct {
	Limit   int
	Marker  string
	SortKey string // "" for the order of creation
	Desc    bool
	Fields  string // as asked
	Detail  bool
}

// The microversions in which lists of the oldest resources learnt ?fields= and
// ?detail=.
const (
	FieldsSince = 8
	DetailSince = 43
)

// PageArgs are the names page reads.
func PageArgs() []string {
	return []string{"limit", "marker", "sort_key", "sort_dir", "fields", "detail"}
}

// Page reads the common arguments of a list. sortKey checks the sort key;
// since is the microversion ?detail= came with, fieldsSince that of ?fields=.
func (c *Call) Page(sortKey func(int, string) (string, error), fieldsSince, since int) (Page, error) {
	if marker := c.QueryParam("marker"); c.QueryParams().Has("marker") && !ValidUUID(marker) {
		return Page{}, BadRequest("Expected UUID for marker: %s", marker)
	}
	return c.PageAfterAny(sortKey, fieldsSince, since)
}

// PageAfterAny is page for a list whose marker may be anything.
func (c *Call) PageAfterAny(sortKey func(int, string) (string, error), fieldsSince, since int) (Page, error) {
	q := c.QueryParams()
	p := Page{Limit: maxLimit, Marker: q.Get("marker"), Fields: q.Get("fields")}
	var err error
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil {
			return p, BadRequest("Expected an integer for limit: %s", q.Get("limit"))
		}
		if n <= 0 {
			return p, BadRequest("Limit must be positive")
		}
		p.Limit = min(n, maxLimit)
	}
	if p.SortKey, err = sortKey(c.Minor, q.Get("sort_key")); err != nil {
		return p, err
	}
	switch dir := q.Get("sort_dir"); dir {
	case "", "asc":
	case "desc":
		p.Desc = true
	default:
		return p, BadRequest("Invalid sort direction: %s. Acceptable values are 'asc' or 'desc'", dir)
	}
	if p.Fields != "" && c.Minor < fieldsSince {
		return p, NotAcceptable()
	}
	if q.Has("detail") {
		if c.Minor < since {
			return p, BadRequest("Invalid query parameter ?detail=%s received.", q.Get("detail"))
		}
		if p.Detail, err = ParseBool("detail", q.Get("detail")); err != nil {
			return p, err
		}
	}
	if p.Detail && p.Fields != "" {
		return p, BadRequest("Can not specify ?detail=True and fields in the same request.")
	}
	return p, nil
}

// next is the URL of the page after last: the request's own arguments, with
// another marker.
func (c *Call) next(p Page, last string) string {
	q := c.QueryParams()
	var b strings.Builder
	b.WriteString(c.BaseURL() + c.Request().URL.Path + "?sort_key=" + Or(q.Get("sort_key"), "id") + "&sort_dir=" +
		Or(q.Get("sort_dir"), "asc"))
	for _, key := range SortedKeys(q) {
		switch key {
		case "sort_key", "sort_dir", "limit", "marker":
		default:
			for _, v := range q[key] {
				b.WriteString("&" + key + "=" + queryEscape(v))
			}
		}
	}
	b.WriteString("&limit=" + strconv.Itoa(p.Limit) + "&marker=" + last)
	return b.String()
}

// Or is s, or absent when s is empty.
func Or(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}

// queryEscape leaves the comma alone: fields=a,b is how Ironic prints it.
func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2C", ",") }

// AppendList answers a page: {"name": [...], "next": ...}. items holds one more
// than the page when there is another page.
func AppendList[T any](dst []byte, c *Call, p Page, name string, items []T, id func(*T) string,
	show func([]byte, *T) []byte) []byte {
	more := len(items) > p.Limit
	items = items[:min(len(items), p.Limit)]
	dst = append(append(append(dst, `{"`...), name...), `":[`...)
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = show(dst, &items[i])
	}
	dst = append(dst, ']')
	if more {
		dst = AppendString(append(dst, `,"next":`...), c.next(p, id(&items[len(items)-1])))
	}
	return append(dst, '}')
}

// Cut makes a page, and the mark that there is another, of all that match: for what is not
// so much that the store had to. items come in the order of creation; missing words that
// there is no item of the marker's UUID.
func Cut[T any](t *Table[T], minor int, items []T, p Page, id func(*T) string,
	missing func(string) error) ([]T, error) {
	if p.SortKey != "" {
		show := t.fields[t.ByName[p.SortKey]].Show
		key := func(of *T) string { return string(show(nil, &View[T]{Of: of, Minor: minor})) }
		slices.SortStableFunc(items, func(x, y T) int { return compareShown(key(&x), key(&y)) })
	}
	if p.Desc {
		slices.Reverse(items)
	}
	if p.Marker != "" {
		i := slices.IndexFunc(items, func(x T) bool { return id(&x) == p.Marker })
		if i < 0 {
			return nil, missing(p.Marker)
		}
		items = items[i+1:]
	}
	return items[:min(len(items), p.Limit+1)], nil
}

// compareShown orders two values as they are shown: numbers by their size.
func compareShown(x, y string) int {
	a, errA := strconv.ParseFloat(x, 64)
	b, errB := strconv.ParseFloat(y, 64)
	if errA == nil && errB == nil {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(x, y)
}

// Filter is one ?name=value of a list, over the query Q it narrows.
type Filter[Q any] struct {
	Name  string
	Since int
	Apply func(q *Q, value string) error
}

// Narrow applies the filters a request names and refuses names nobody knows.
func Narrow[Q any](c *Call, q *Q, filters []Filter[Q], known ...string) error {
	params := c.QueryParams()
	for _, f := range filters {
		known = append(known, f.Name)
		if !params.Has(f.Name) {
			continue
		}
		if strings.Contains(params.Get(f.Name), "\x00") { // which no database takes in a query
			return BadRequest("Invalid %s: it holds a NUL character", f.Name)
		}
		if c.Minor < f.Since {
			return nodeapi.NewFault(http.StatusNotAcceptable,
				"Request not acceptable. The minimal required API version should be %s", nodeapi.Version(f.Since))
		}
		if err := f.Apply(q, params.Get(f.Name)); err != nil {
			return err
		}
	}
	return Unexpected(SortedKeys(params), known)
}
