package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// collection is a resource that belongs to no other, and whose records are
// found by UUID or name: what its handlers have to know of it. They are the
// same for all such resources.
type collection[T any] struct {
	api      *API
	path     string // under /v1
	key      string // of a list; the path when ""
	since    int    // microversion 1.since; below it the path does not exist
	tooOld   error  // what is said below it; nil for the words of the newer resources
	noun     string // "Deploy template", for texts
	ident    string // Ironic's word for the identifier in a path; x_uuid where names are not taken
	fields   *table[T]
	brief    []string // what a list shows that is not asked for more
	required []string // what a new record cannot do without
	id       func(*T) string

	// Arguments of a list beyond those of every list; nil for none.
	filters     func(c *call) []filter[narrowing[T]]
	detail      bool // there is /detail too, as with the oldest resources
	detailSince int  // microversion of ?detail=, when that is newer than the resource
	whole       bool // a list shows every field anyway, and knows no ?detail=

	blank T // what a new record is that asks for nothing

	// Further rules of a new record and of a patched one; nil for none.
	created func(c *call, of *T) error
	patched func(ops []operation, of *T)

	// Of records that concern projects: the one they belong to, or the node they
	// are a part of, whose owner and lessee then count; and whether others may read
	// one. Nil for what there is not: a record with neither is the system's.
	owner  func(*T) *string
	node   func(*T) *string
	public func(*T) bool

	kept engine.Catalog[T]
}

// routes is the rows of the route table.
func (r *collection[T]) routes() []route {
	many, one, name := "/v1/"+r.path, "/v1/"+r.path+"/:ident", strings.ToLower(r.noun)
	which := func(*call) error { return badRequest("Missing mandatory parameter: %s", r.ident) }
	rows := []route{
		{method: http.MethodGet, path: many, doc: "every " + name + ", a page at a time", handle: r.list},
		{method: http.MethodPost, path: many, doc: "add a " + name, handle: r.add},
		{method: http.MethodPatch, path: many, doc: "refused: which " + name, handle: which},
		{method: http.MethodDelete, path: many, doc: "refused: which " + name, handle: which},
		{method: http.MethodGet, path: one, doc: "one " + name, handle: r.show},
		{method: http.MethodPatch, path: one, doc: "change fields of a " + name, handle: r.patch},
		{method: http.MethodDelete, path: one, doc: "forget a " + name, handle: r.drop},
	}
	rows[0].wire = lists(r.fields, cmpOr(r.key, r.path), r.arguments()...)
	rows[1].wire, rows[4].wire, rows[5].wire = adds(r.fields, r.required...), shows(r.fields), patches(r.fields)
	if r.detail {
		rows = append(rows, route{method: http.MethodGet, path: many + "/detail", doc: "every " + name + " with all its fields", handle: r.listDetail, wire: rows[0].wire})
	}
	for i := range rows {
		if rows[i].path == one && r.hidden() {
			rows[i].known = r.known
		}
		if rows[i].since, rows[i].tooOld = r.since, r.tooOld; r.tooOld == nil {
			rows[i].tooOld = tooNew(rows[i].method, name+"s")
		}
	}
	return rows
}

// arguments is what a list can be narrowed by. The filters are asked for their
// names alone, of a call that nobody makes.
func (r *collection[T]) arguments() []argument {
	if r.filters == nil {
		return nil
	}
	return argumentsOf(r.filters(&call{minor: nodeapi.MaxMinor}))
}

// tooNew answers for a whole resource that is newer than the microversion: it
// is not there, and so has no method that could change it.
func tooNew(method, names string) error {
	status := http.StatusMethodNotAllowed
	if method == http.MethodGet {
		status = http.StatusNotFound
	}
	return nodeapi.Routing(status, "The API version does not allow %s", names)
}

// ref is the UUID or name in the path, checked for its form only.
func (r *collection[T]) ref(c *call) (string, error) {
	ref := c.Param("ident")
	if c.minor < 91 { // until then a suffix was taken for a content type
		ref = strings.TrimSuffix(ref, ".json")
	}
	switch {
	case validUUID(ref):
		return strings.ToLower(ref), nil
	case strings.HasSuffix(r.ident, "_uuid"):
		return "", badRequest("Expected UUID for %s: %s", r.ident, ref)
	case !node.ValidName(ref):
		return "", badRequest("Expected UUID or name for %s: %s", r.ident, ref)
	}
	return ref, nil
}

func (r *collection[T]) answer(c *call, status int, of *T, chosen selection) error {
	v := view[T]{of: of, minor: c.minor, base: c.base(), caller: c.caller}
	return r.api.buffer(c, status, func(dst []byte) []byte { return r.fields.render(dst, chosen, &v) })
}

// chosen reads ?fields=.
func (r *collection[T]) chosen(c *call, fields string, otherwise selection) (selection, error) {
	switch {
	case fields == "":
		return otherwise, nil
	case c.minor < fieldsSince:
		return nil, notAcceptable()
	}
	return r.fields.asked(c.minor, fields)
}

func (r *collection[T]) show(c *call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), []string{"fields"}); err != nil {
		return err
	}
	chosen, err := r.chosen(c, c.QueryParam("fields"), r.fields.full(c.minor))
	if err != nil {
		return err
	}
	of, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &of, chosen)
}

func (r *collection[T]) add(c *call) error {
	body, err := c.object(r.fields.kind)
	if err != nil {
		return err
	}
	for _, key := range r.required {
		if _, ok := body[key]; !ok {
			return badRequest("Schema error for %s: '%s' is a required property", r.fields.kind, key)
		}
	}
	of := r.blank
	if err := r.fields.fill(c.minor, body, &of); err != nil {
		return err
	}
	if r.created != nil {
		if err := r.created(c, &of); err != nil {
			return r.fields.schemaFault(err)
		}
	}
	if err := r.claim(c, &of); err != nil {
		return err
	}
	if of, err = r.kept.Create(c.Request().Context(), of); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/"+r.path+"/"+r.id(&of))
	return r.answer(c, http.StatusCreated, &of, r.fields.full(c.minor))
}

func (r *collection[T]) patch(c *call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	ops, err := c.patch()
	if err != nil {
		return err
	}
	if err := r.fields.patchable(c.minor, ops); err != nil {
		return err
	}
	of, err := r.kept.Update(c.Request().Context(), ref, func(of *T) error {
		if err := r.permitPatch(c, ref, ops, of); err != nil {
			return err
		}
		before := *of
		if err := r.fields.apply(ops, of); err != nil {
			return err
		}
		if err := r.permitMove(c, &before, of); err != nil {
			return err
		}
		if r.patched != nil {
			r.patched(ops, of)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &of, r.fields.full(c.minor))
}

func (r *collection[T]) drop(c *call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	if c.caller != nil {
		if _, err := r.find(c, ref); err != nil {
			return err
		}
	}
	if err := r.kept.Delete(c.Request().Context(), ref); err != nil {
		return err
	}
	return c.empty(http.StatusNoContent)
}
