package rest

import (
	"cmp"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxLimit is the longest page, and the default.
const maxLimit = 1000

// Page has the arguments common to all lists.
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

// Page reads the common arguments of a list. sortKey checks the sort key. since is the microversion of ?detail=,
// fieldsSince the microversion of ?fields=.
func (c *Call) Page(sortKey func(int, string) (string, error), fieldsSince, since int) (Page, error) {
	if marker := c.QueryParam("marker"); c.QueryParams().Has("marker") && !ValidUUID(marker) {
		return Page{}, BadRequest("Expected UUID for marker: %s", marker)
	}
	return c.PageAfterAny(sortKey, fieldsSince, since)
}

// PageAfterAny is Page for a list with a marker of any form.
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

// Items are the records of a list in their order, read as they are needed.
type Items[T any] = iter.Seq2[*T, error]

// Each are items that are in memory.
func Each[T any](items []T) Items[T] {
	return func(yield func(*T, error) bool) {
		for i := range items {
			if !yield(&items[i], nil) {
				return
			}
		}
	}
}

// AnswerList answers a page: {"name": [...], "next": ...}. It ends after p.Limit items, and before the item with which
// it would have more than Options.PageBytes; it has at least one.
func AnswerList[T any](s *Server, c *Call, p Page, name string, items Items[T], id func(*T) string,
	show func([]byte, *T) []byte) error {
	return s.buffer(c, http.StatusOK, "application/json", func(dst []byte) ([]byte, error) {
		dst = append(append(append(dst, `{"`...), name...), `":[`...)
		n, last, next := 0, "", ""
		for item, err := range items {
			if err != nil {
				return dst, err
			}
			before := len(dst)
			if n < p.Limit {
				if n > 0 {
					dst = append(dst, ',')
				}
				dst = show(dst, item)
			}
			if n == p.Limit || n > 0 && len(dst) > s.o.PageBytes {
				dst, next = dst[:before], c.next(p, last)
				break
			}
			n, last = n+1, id(item)
		}
		dst = append(dst, ']')
		if next != "" {
			dst = AppendString(append(dst, `,"next":`...), next)
		}
		return append(dst, '}'), nil
	})
}

// AnswerLines answers a page, one item a line. The page ends by the same bounds as a page of AnswerList. Clients ask
// for the items after its last one until a page is empty.
func AnswerLines[T any](s *Server, c *Call, items Items[T], show func([]byte, *T) []byte) error {
	return s.buffer(c, http.StatusOK, nodeapi.MediaLines, func(dst []byte) ([]byte, error) {
		n := 0
		for item, err := range items {
			if err != nil {
				return dst, err
			}
			before := len(dst)
			if dst = append(show(dst, item), '\n'); n > 0 && len(dst) > s.o.PageBytes {
				return dst[:before], nil
			}
			if n++; n == maxLimit {
				break
			}
		}
		return dst, nil
	})
}

// Source is where the records of a list are read.
type Source[T any] struct {
	// Each calls f for the records in the order of creation, behind the one of a UUID unless that is "", until f returns
	// false.
	Each func(after string, f func(*T) bool) error
	// Find reads a record, nil when it is gone.
	Find    func(uuid string) (*T, error)
	ID      func(*T) string
	Missing func(uuid string) error // the fault for an unknown marker
}

// maxSortKey bounds the part of a value that a list is sorted by.
const maxSortKey = 512

// Items are the records behind the marker of a page, in its order. The order of creation needs one pass. For another
// order Items reads all records, keeps their sort keys, and reads the records of the page again.
func (t *Table[T]) Items(minor int, p Page, s Source[T]) Items[T] {
	return func(yield func(*T, error) bool) {
		if p.SortKey == "" && !p.Desc {
			more := true
			err := s.Each(p.Marker, func(of *T) bool {
				more = yield(of, nil)
				return more
			})
			if err != nil && more {
				yield(nil, err)
			}
			return
		}
		uuids, err := t.sorted(minor, p, s)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, uuid := range uuids {
			of, err := s.Find(uuid)
			if of == nil && err == nil {
				continue
			}
			if !yield(of, err) {
				return
			}
		}
	}
}

// sorted is the UUIDs of the records behind the marker.
func (t *Table[T]) sorted(minor int, p Page, s Source[T]) (uuids []string, err error) {
	type place struct{ key, uuid string }
	var all []place
	err = s.Each("", func(of *T) bool {
		at := place{uuid: s.ID(of)}
		if p.SortKey != "" {
			shown := t.fields[t.ByName[p.SortKey]].Show(nil, &View[T]{Of: of, Minor: minor})
			at.key = string(shown[:min(len(shown), maxSortKey)])
		}
		all = append(all, at)
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y place) int { return compareShown(x.key, y.key) })
	if p.Desc {
		slices.Reverse(all)
	}
	if p.Marker != "" {
		i := slices.IndexFunc(all, func(x place) bool { return x.uuid == p.Marker })
		if i < 0 {
			return nil, s.Missing(p.Marker)
		}
		all = all[i+1:]
	}
	for _, at := range all { // all of them: some of a page may be gone by the time they are read
		uuids = append(uuids, at.uuid)
	}
	return uuids, nil
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

// Narrow applies the filters of a request and refuses unknown names.
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
