package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Access to the records of a collection.

// find reads a record by UUID or name, if the caller may do this to it.
func (r *collection[T]) find(c *rest.Call, ref string) (T, error) {
	of, err := r.kept.Find(c.Request().Context(), ref)
	if err != nil {
		return of, err
	}
	return of, r.permit(c, ref, &of)
}

// known refuses a caller that may not know of the record in the path.
func (r *collection[T]) known(c *rest.Call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	_, err = r.find(c, ref)
	return err
}

// hidden reports whether callers without access to a record get a 404. If some records are public, it depends on the
// record (permit).
func (r *collection[T]) hidden() bool {
	return r.public == nil && (r.owner != nil || r.node != nil)
}

func (r *collection[T]) missing(ref string) error {
	return node.Refuse(node.NotFound, "%s %s could not be found.", r.noun, ref)
}

// permit refuses a caller without access to a record. Everybody may read a public record.
func (r *collection[T]) permit(c *rest.Call, ref string, of *T) error {
	if c.Caller == nil || r.owner == nil && r.node == nil {
		return nil
	}
	owner, lessee, err := r.concerned(c, of)
	shown := r.access.Rules.Of(http.MethodGet, "/v1/"+r.path+"/:ident", "")
	switch {
	case isNotFound(err), err == nil && r.hidden() && !shown.Allows(c.Caller, owner, lessee):
		return r.missing(ref)
	case err != nil, c.Rule.Allows(c.Caller, owner, lessee):
		return err
	case r.public == nil || shown.Allows(c.Caller, owner, lessee):
		return c.Rule.Denied()
	case !r.public(of):
		return r.missing(ref)
	case c.Request().Method == http.MethodGet:
		return nil
	}
	return c.Rule.Denied()
}

// concerned is the projects that a record concerns.
func (r *collection[T]) concerned(c *rest.Call, of *T) (owner, lessee string, err error) {
	if r.node == nil {
		return *r.owner(of), "", nil
	}
	n, err := r.access.conductor.Node(c.Request().Context(), *r.node(of))
	return n.Owner, n.Lessee, err
}

// mine returns a filter for the records that a caller sees in a list.
func (r *collection[T]) mine(c *rest.Call) (func(*T) bool, error) {
	project := c.Project()
	switch {
	case project == "":
	case r.node != nil:
		nodes, err := r.access.uuidsOf(c, []node.Query{{Project: project}})
		return func(of *T) bool { return nodes[*r.node(of)] }, err
	case r.owner != nil:
		return func(of *T) bool { return *r.owner(of) == project || r.public != nil && r.public(of) }, nil
	}
	return func(*T) bool { return true }, nil
}

// claim makes the caller's project the owner of a new record. A project cannot create a public one. A part of a node
// needs access to the node instead.
func (r *collection[T]) claim(c *rest.Call, of *T) error {
	switch {
	case c.Caller == nil:
		return nil
	case r.node != nil:
		_, err := r.access.bodyNode(c, *r.node(of))
		return err
	case r.owner == nil || c.Project() == "":
		return nil
	case r.public != nil && r.public(of):
		return rest.BadRequest("Cannot create a public %s as a project scoped admin.", strings.ToLower(r.noun))
	}
	return claimProject(c, strings.ToLower(r.noun), r.owner(of))
}

// permitPatch refuses a patch of a record, or of one of its fields.
func (r *collection[T]) permitPatch(c *rest.Call, ref string, ops []rest.Operation, of *T) error {
	if err := r.permit(c, ref, of); err != nil || r.owner == nil {
		return err
	}
	return r.access.permitFields(c, "/v1/"+r.path+"/:ident", ops, *r.owner(of), "")
}

// permitMove refuses to make a record a part of some other nodes.
func (r *collection[T]) permitMove(c *rest.Call, before, after *T) error {
	if r.node == nil {
		return nil
	}
	return r.access.permitMove(c, *r.node(before), *r.node(after))
}
