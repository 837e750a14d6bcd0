package api

import (
	"cmp"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The lists of a collection: all records, and the records below a node or another record.

// narrowing limits a list of a collection to some records.
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

// page answers a page of the records in narrowed, with all their fields if detail or the request demands it.
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
	source, err := r.source(c, narrowed)
	if err != nil {
		return err
	}
	if p.Marker != "" { // a record that the caller may not see counts as missing
		if of, err := source.Find(p.Marker); err != nil || of == nil {
			return cmp.Or(err, r.missing(p.Marker))
		}
	}
	v := rest.View[T]{Minor: c.Minor, Base: c.BaseURL(), Caller: c.Caller}
	return rest.AnswerList(r.access.Server, c, p, rest.Or(r.key, r.path), r.fields.Items(c.Minor, p, source), r.id,
		func(dst []byte, of *T) []byte {
			v.Of = of
			return r.fields.Render(dst, chosen, &v)
		})
}

// source reads the records that are left by narrowed, and that the caller sees.
func (r *collection[T]) source(c *rest.Call, narrowed narrowing[T]) (rest.Source[T], error) {
	ctx := c.Request().Context()
	mine, err := r.mine(c)
	if err != nil {
		return rest.Source[T]{}, err
	}
	keep := append(narrowed.keep, mine)
	wanted := func(of *T) bool { return !slices.ContainsFunc(keep, func(f func(*T) bool) bool { return !f(of) }) }
	return rest.Source[T]{
		Each: func(after string, f func(*T) bool) error {
			q := node.RecordQuery{Column: narrowed.column, Values: narrowed.values, After: after}
			return r.kept.Each(ctx, q, func(of *T) bool { return !wanted(of) || f(of) })
		},
		Find: func(uuid string) (*T, error) {
			of, err := unlessGone(r.kept.Find(ctx, uuid))
			if err != nil || of == nil || !wanted(of) {
				return nil, err
			}
			return of, nil
		},
		ID: r.id, Missing: r.missing,
	}, nil
}

// unlessGone makes nil of a record that could not be found.
func unlessGone[T any](of T, err error) (*T, error) {
	if isNotFound(err) {
		return nil, nil
	}
	return &of, err
}
