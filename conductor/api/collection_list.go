package api

import (
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
)

// The lists of a collection: all its records, and those of one of what they
// belong to.

// narrowing is what a list of a collection is narrowed to.
type narrowing[T any] struct {
	column string   // a key of the records; "" for none
	values []string // of which theirs is one
	keep   []func(*T) bool
}

func (r *collection[T]) list(c *rest.Call) error { return r.listed(c, false) }

func (r *collection[T]) listDetail(c *rest.Call) error {
	if c.QueryParams().Has("fields") {
		return rest.BadRequest("Unexpected arguments: fields")
	}
	return r.listed(c, true)
}

func (r *collection[T]) listed(c *rest.Call, detail bool) error {
	var narrowed narrowing[T]
	var filters []rest.Filter[narrowing[T]]
	if r.filters != nil {
		filters = r.filters(c)
	}
	args := rest.PageArgs()
	if r.whole {
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "detail" })
	}
	if err := rest.Narrow(c, &narrowed, filters, args...); err != nil {
		return err
	}
	return r.page(c, narrowed, detail || r.whole)
}

// listOf lists the records of the node a path names.
func (r *collection[T]) listOf(c *rest.Call) error { return r.listedOf(c, false) }

// listDetailOf does so with all their fields.
func (r *collection[T]) listDetailOf(c *rest.Call) error {
	if c.QueryParams().Has("fields") {
		return rest.BadRequest("Unexpected arguments: fields")
	}
	return r.listedOf(c, true)
}

func (r *collection[T]) listedOf(c *rest.Call, detail bool) error {
	n, err := r.access.node(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), rest.PageArgs()); err != nil {
		return err
	}
	return r.page(c, narrowing[T]{column: "node_uuid", values: []string{n.UUID}}, detail)
}

// page answers a page of the records that are left by narrowed; with all their
// fields when detail, or the request, says so.
func (r *collection[T]) page(c *rest.Call, narrowed narrowing[T], detail bool) error {
	p, err := c.Page(r.fields.SortKey, max(r.since, rest.FieldsSince), max(r.since, r.detailSince))
	if err != nil {
		return err
	}
	p.Detail = p.Detail || detail
	chosen := r.fields.Pick(c.Minor, r.brief...)
	if p.Detail {
		chosen = r.fields.Full(c.Minor)
	}
	if chosen, err = r.chosen(c, p.Fields, chosen); err != nil {
		return err
	}
	items, err := r.kept.List(c.Request().Context(), narrowed.column, narrowed.values...)
	if err != nil {
		return err
	}
	mine, err := r.mine(c)
	if err != nil {
		return err
	}
	for _, keep := range append(narrowed.keep, mine) {
		items = slices.DeleteFunc(items, func(of T) bool { return !keep(&of) })
	}
	if items, err = rest.Cut(r.fields, c.Minor, items, p, r.id, r.missing); err != nil {
		return err
	}
	v := rest.View[T]{Minor: c.Minor, Base: c.BaseURL(), Caller: c.Caller}
	return r.access.Buffer(c, http.StatusOK, func(dst []byte) []byte {
		return rest.AppendList(dst, c, p, rest.Or(r.key, r.path), items, r.id, func(dst []byte, of *T) []byte {
			v.Of = of
			return r.fields.Render(dst, chosen, &v)
		})
	})
}
