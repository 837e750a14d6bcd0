package api

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

// page is what all lists understand.
type page struct {
	limit   int
	marker  string
	sortKey string // "" for the order of creation
	desc    bool
	fields  string // as asked
	detail  bool
}

// The microversions in which lists of the oldest resources learnt ?fields= and
// ?detail=.
const (
	fieldsSince = 8
	detailSince = 43
)

// pageArgs are the names page reads.
func pageArgs() []string {
	return []string{"limit", "marker", "sort_key", "sort_dir", "fields", "detail"}
}

// page reads the common arguments of a list. sortKey checks the sort key;
// since is the microversion ?detail= came with, fieldsSince that of ?fields=.
func (c *call) page(sortKey func(int, string) (string, error), fieldsSince, since int) (page, error) {
	if marker := c.QueryParam("marker"); c.QueryParams().Has("marker") && !validUUID(marker) {
		return page{}, badRequest("Expected UUID for marker: %s", marker)
	}
	return c.pageAfterAny(sortKey, fieldsSince, since)
}

// pageAfterAny is page for a list whose marker may be anything.
func (c *call) pageAfterAny(sortKey func(int, string) (string, error), fieldsSince, since int) (page, error) {
	q := c.QueryParams()
	p := page{limit: maxLimit, marker: q.Get("marker"), fields: q.Get("fields")}
	var err error
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil {
			return p, badRequest("Expected an integer for limit: %s", q.Get("limit"))
		}
		if n <= 0 {
			return p, badRequest("Limit must be positive")
		}
		p.limit = min(n, maxLimit)
	}
	if p.sortKey, err = sortKey(c.minor, q.Get("sort_key")); err != nil {
		return p, err
	}
	switch dir := q.Get("sort_dir"); dir {
	case "", "asc":
	case "desc":
		p.desc = true
	default:
		return p, badRequest("Invalid sort direction: %s. Acceptable values are 'asc' or 'desc'", dir)
	}
	if p.fields != "" && c.minor < fieldsSince {
		return p, notAcceptable()
	}
	if q.Has("detail") {
		if c.minor < since {
			return p, badRequest("Invalid query parameter ?detail=%s received.", q.Get("detail"))
		}
		if p.detail, err = parseBool("detail", q.Get("detail")); err != nil {
			return p, err
		}
	}
	if p.detail && p.fields != "" {
		return p, badRequest("Can not specify ?detail=True and fields in the same request.")
	}
	return p, nil
}

// next is the URL of the page after last: the request's own arguments, with
// another marker.
func (c *call) next(p page, last string) string {
	q := c.QueryParams()
	var b strings.Builder
	b.WriteString(c.base() + c.Request().URL.Path + "?sort_key=" + cmpOr(q.Get("sort_key"), "id") + "&sort_dir=" + cmpOr(q.Get("sort_dir"), "asc"))
	for _, key := range sortedKeys(q) {
		switch key {
		case "sort_key", "sort_dir", "limit", "marker":
		default:
			for _, v := range q[key] {
				b.WriteString("&" + key + "=" + queryEscape(v))
			}
		}
	}
	b.WriteString("&limit=" + strconv.Itoa(p.limit) + "&marker=" + last)
	return b.String()
}

func cmpOr(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}

// queryEscape leaves the comma alone: fields=a,b is how Ironic prints it.
func queryEscape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2C", ",") }

// appendList answers a page: {"name": [...], "next": ...}. items holds one more
// than the page when there is another page.
func appendList[T any](dst []byte, c *call, p page, name string, items []T, id func(*T) string, show func([]byte, *T) []byte) []byte {
	more := len(items) > p.limit
	items = items[:min(len(items), p.limit)]
	dst = append(append(append(dst, `{"`...), name...), `":[`...)
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = show(dst, &items[i])
	}
	dst = append(dst, ']')
	if more {
		dst = appendString(append(dst, `,"next":`...), c.next(p, id(&items[len(items)-1])))
	}
	return append(dst, '}')
}

// cut makes a page, and what tells that there is another, of all that match:
// for what is not so much that the store had to. items come in the order of
// creation; missing words that there is no item of the marker's UUID.
func cut[T any](t *table[T], minor int, items []T, p page, id func(*T) string, missing func(string) error) ([]T, error) {
	if p.sortKey != "" {
		show := t.fields[t.byName[p.sortKey]].show
		key := func(of *T) string { return string(show(nil, &view[T]{of: of, minor: minor})) }
		slices.SortStableFunc(items, func(x, y T) int { return compareShown(key(&x), key(&y)) })
	}
	if p.desc {
		slices.Reverse(items)
	}
	if p.marker != "" {
		i := slices.IndexFunc(items, func(x T) bool { return id(&x) == p.marker })
		if i < 0 {
			return nil, missing(p.marker)
		}
		items = items[i+1:]
	}
	return items[:min(len(items), p.limit+1)], nil
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

// filter is one ?name=value of a list, over the query Q it narrows.
type filter[Q any] struct {
	name  string
	since int
	apply func(q *Q, value string) error
}

// narrow applies the filters a request names and refuses names nobody knows.
func narrow[Q any](c *call, q *Q, filters []filter[Q], known ...string) error {
	params := c.QueryParams()
	for _, f := range filters {
		known = append(known, f.name)
		if !params.Has(f.name) {
			continue
		}
		if strings.Contains(params.Get(f.name), "\x00") { // which no database takes in a query
			return badRequest("Invalid %s: it holds a NUL character", f.name)
		}
		if c.minor < f.since {
			return nodeapi.NewFault(http.StatusNotAcceptable, "Request not acceptable. The minimal required API version should be %s", nodeapi.Version(f.since))
		}
		if err := f.apply(q, params.Get(f.name)); err != nil {
			return err
		}
	}
	return unexpected(sortedKeys(params), known)
}
