package api

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// collection describes a resource that belongs to no other, with records that are found by UUID or name. All such
// resources share its handlers.
type collection[T any] struct {
	access   *access
	path     string // under /v1
	key      string // of a list; the path when ""
	since    int    // microversion 1.since; below it the path does not exist
	tooOld   error  // the answer below it; nil for the newer resources' text
	noun     string // "Deploy template", for texts
	ident    string // Ironic's word for the identifier in a path; x_uuid where names are not taken
	fields   *rest.Table[T]
	brief    []string // the fields that a list shows by default
	required []string // the fields that a POST must set
	id       func(*T) string

	// Arguments of a list besides the common ones; nil for none.
	filters     func(c *rest.Call) []rest.Filter[narrowing[T]]
	detail      bool // there is /detail too, as with the oldest resources
	detailSince int  // microversion of ?detail=, when that is newer than the resource
	whole       bool // a list shows every field anyway, and knows no ?detail=

	blank T // the defaults of a new record

	// firstJudged compares the microversion with the field of a patch's first operation alone.
	firstJudged bool

	// fullSince has a single record show the fields of that microversion in older ones, too; 0 for none.
	fullSince int

	// Further rules of a new record and of a patched one; nil for none.
	created func(c *rest.Call, of *T) error
	patched func(c *rest.Call, ops []rest.Operation, of *T) error

	// owner is the project that owns a record. node is the node that a record is part of; then the node's owner and
	// lessee count. public reports whether other projects may read a record. Each is nil where it does not apply: a
	// record with neither owner nor node is the system's.
	owner  func(*T) *string
	node   func(*T) *string
	public func(*T) bool

	kept engine.Catalog[T]
}

// routes is the rows of the route table.
func (r *collection[T]) routes() []rest.Route {
	many, one, name := "/v1/"+r.path, "/v1/"+r.path+"/:ident", strings.ToLower(r.noun)
	which := func(*rest.Call) error { return rest.BadRequest("Missing mandatory parameter: %s", r.ident) }
	rows := []rest.Route{
		{Method: http.MethodGet, Path: many, Doc: "every " + name + ", a page at a time", Handle: r.list},
		{Method: http.MethodPost, Path: many, Doc: "add a " + name, Handle: r.add},
		{Method: http.MethodPatch, Path: many, Doc: "refused: which " + name, Handle: which},
		{Method: http.MethodDelete, Path: many, Doc: "refused: which " + name, Handle: which},
		{Method: http.MethodGet, Path: one, Doc: "one " + name, Handle: r.show},
		{Method: http.MethodPatch, Path: one, Doc: "change fields of a " + name, Handle: r.patch},
		{Method: http.MethodDelete, Path: one, Doc: "forget a " + name, Handle: r.drop},
	}
	rows[0].Wire = rest.Lists(r.fields, rest.Or(r.key, r.path), r.arguments()...)
	rows[1].Wire, rows[4].Wire, rows[5].Wire = rest.Creates(r.fields, r.required...), rest.Shows(r.fields),
		rest.Patches(r.fields)
	if r.detail {
		rows = append(rows,
			rest.Route{Method: http.MethodGet, Path: many + "/detail", Doc: "every " + name + " with all its fields",
				Handle: r.listDetail, Wire: rows[0].Wire})
	}
	for i := range rows {
		if rows[i].Path == one && r.hidden() {
			rows[i].Known = r.known
		}
		if rows[i].Since, rows[i].TooOld = r.since, r.tooOld; r.tooOld == nil {
			rows[i].TooOld = tooNew(rows[i].Method, name+"s")
		}
	}
	return rows
}

// arguments lists the query arguments that narrow a list. It makes the filters for their names alone, with an empty
// call.
func (r *collection[T]) arguments() []rest.Argument {
	if r.filters == nil {
		return nil
	}
	return rest.ArgumentsOf(r.filters(&rest.Call{Minor: nodeapi.MaxMinor}))
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
func (r *collection[T]) ref(c *rest.Call) (string, error) {
	ref := c.Param("ident")
	if c.Minor < 91 { // until then a suffix was taken for a content type
		ref = strings.TrimSuffix(ref, ".json")
	}
	switch {
	case rest.ValidUUID(ref):
		return strings.ToLower(ref), nil
	case strings.HasSuffix(r.ident, "_uuid"):
		return "", rest.BadRequest("Expected UUID for %s: %s", r.ident, ref)
	case !node.ValidName(ref):
		return "", rest.BadRequest("Expected UUID or name for %s: %s", r.ident, ref)
	}
	return ref, nil
}

func (r *collection[T]) answer(c *rest.Call, status int, of *T, chosen rest.Selection) error {
	v := rest.View[T]{Of: of, Minor: c.Minor, Base: c.BaseURL(), Caller: c.Caller}
	return r.access.Buffer(c, status, func(dst []byte) []byte { return r.fields.Render(dst, chosen, &v) })
}

// chosen reads ?fields=.
func (r *collection[T]) chosen(c *rest.Call, fields string, otherwise rest.Selection) (rest.Selection, error) {
	switch {
	case fields == "":
		return otherwise, nil
	case c.Minor < rest.FieldsSince:
		return nil, rest.NotAcceptable()
	}
	return r.fields.Selected(c.Minor, fields)
}

func (r *collection[T]) show(c *rest.Call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{"fields"}); err != nil {
		return err
	}
	chosen, err := r.chosen(c, c.QueryParam("fields"), r.full(c.Minor))
	if err != nil {
		return err
	}
	of, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &of, chosen)
}

func (r *collection[T]) add(c *rest.Call) error {
	body, err := c.Object(r.fields.Kind)
	if err != nil {
		return err
	}
	for _, key := range r.required {
		if _, ok := body[key]; !ok {
			return rest.BadRequest("Schema error for %s: '%s' is a required property", r.fields.Kind, key)
		}
	}
	of := r.blank
	if err := r.fields.Fill(c.Minor, body, &of); err != nil {
		return err
	}
	if r.created != nil {
		if err := r.created(c, &of); err != nil {
			return r.fields.SchemaFault(err)
		}
	}
	if err := r.claim(c, &of); err != nil {
		return err
	}
	if of, err = r.kept.Create(c.Request().Context(), of); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/"+r.path+"/"+r.id(&of))
	return r.answer(c, http.StatusCreated, &of, r.full(c.Minor))
}

func (r *collection[T]) patch(c *rest.Call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	ops, err := c.Patch()
	if err != nil {
		return err
	}
	if err := r.patchable(c.Minor, ops); err != nil {
		return err
	}
	of, err := r.kept.Update(c.Request().Context(), ref, func(of *T) error {
		if err := r.permitPatch(c, ref, ops, of); err != nil {
			return err
		}
		before := *of
		if err := r.fields.Apply(c, ops, of); err != nil {
			return err
		}
		if err := r.permitMove(c, &before, of); err != nil {
			return err
		}
		if r.patched != nil {
			return r.patched(c, ops, of)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.answer(c, http.StatusOK, &of, r.full(c.Minor))
}

// full are the fields of a single record.
func (r *collection[T]) full(minor int) rest.Selection { return r.fields.Full(max(minor, r.fullSince)) }

// patchable refuses operations on fields that cannot be changed in the microversion.
func (r *collection[T]) patchable(minor int, ops []rest.Operation) error {
	if !r.firstJudged || len(ops) == 0 {
		return r.fields.Patchable(minor, ops)
	}
	return cmp.Or(r.fields.Patchable(minor, ops[:1]), r.fields.Patchable(nodeapi.MaxMinor, ops[1:]))
}

func (r *collection[T]) drop(c *rest.Call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	if c.Caller != nil {
		if _, err := r.find(c, ref); err != nil {
			return err
		}
	}
	if err := r.kept.Delete(c.Request().Context(), ref); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}
