package api

import (
	"net/http"
	"slices"
)

// The lists of a collection: all its records, and those of one of what they
// belong to.

// narrowing is what a list of a collection is narrowed to.
type narrowing[T any] struct {
	column string   // a key of the records; "" for none
	values []string // of which theirs is one
	keep   []func(*T) bool
}

func (r *collection[T]) list(c *call) error { return r.listed(c, false) }

func (r *collection[T]) listDetail(c *call) error {
	if c.QueryParams().Has("fields") {
		return badRequest("Unexpected arguments: fields")
	}
	return r.listed(c, true)
}

func (r *collection[T]) listed(c *call, detail bool) error {
	var narrowed narrowing[T]
	var filters []filter[narrowing[T]]
	if r.filters != nil {
		filters = r.filters(c)
	}
	args := pageArgs()
	if r.whole {
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "detail" })
	}
	if err := narrow(c, &narrowed, filters, args...); err != nil {
		return err
	}
	return r.page(c, narrowed, detail || r.whole)
}

// listOf lists the records of the node a path names.
func (r *collection[T]) listOf(c *call) error { return r.listedOf(c, false) }

// listDetailOf does so with all their fields.
func (r *collection[T]) listDetailOf(c *call) error {
	if c.QueryParams().Has("fields") {
		return badRequest("Unexpected arguments: fields")
	}
	return r.listedOf(c, true)
}

func (r *collection[T]) listedOf(c *call, detail bool) error {
	n, err := r.api.node(c)
	if err != nil {
		return err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), pageArgs()); err != nil {
		return err
	}
	return r.page(c, narrowing[T]{column: "node_uuid", values: []string{n.UUID}}, detail)
}

// page answers a page of the records that are left by narrowed; with all their
// fields when detail, or the request, says so.
func (r *collection[T]) page(c *call, narrowed narrowing[T], detail bool) error {
	p, err := c.page(r.fields.sortKey, max(r.since, fieldsSince), max(r.since, r.detailSince))
	if err != nil {
		return err
	}
	p.detail = p.detail || detail
	chosen := r.fields.pick(c.minor, r.brief...)
	if p.detail {
		chosen = r.fields.full(c.minor)
	}
	if chosen, err = r.chosen(c, p.fields, chosen); err != nil {
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
	if items, err = cut(r.fields, c.minor, items, p, r.id, r.missing); err != nil {
		return err
	}
	v := view[T]{minor: c.minor, base: c.base(), caller: c.caller}
	return r.api.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return appendList(dst, c, p, cmpOr(r.key, r.path), items, r.id, func(dst []byte, of *T) []byte {
			v.of = of
			return r.fields.render(dst, chosen, &v)
		})
	})
}
