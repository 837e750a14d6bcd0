package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// traitRoutes is the traits of runbooks: nodes that have one of them may be
// cleaned and serviced with it.
func (r *runbooks) traitRoutes() []route {
	const all, one = "/v1/runbooks/:ident/traits", "/v1/runbooks/:ident/traits/:trait"
	older := nodeapi.Routing(http.StatusNotFound, "The API version does not allow runbook traits")
	return []route{
		{method: http.MethodGet, path: all, since: runbookTraits, tooOld: older, doc: "the traits of a runbook", handle: r.listTraits, wire: gives(traitsForm())},
		{method: http.MethodPut, path: all, since: runbookTraits, tooOld: older, doc: "replace the traits of a runbook", handle: r.setTraits, wire: takes(http.StatusNoContent, traitsForm())},
		{method: http.MethodDelete, path: all, since: runbookTraits, tooOld: older, doc: "take all traits from a runbook", handle: r.clearTraits},
		{method: http.MethodGet, path: one, since: runbookTraits, tooOld: older, doc: "refused: a trait has no fields", handle: writeOnly},
		{method: http.MethodPut, path: one, since: runbookTraits, tooOld: older, doc: "give a runbook one more trait", handle: r.addTrait, wire: takes(http.StatusNoContent, nil)},
		{method: http.MethodDelete, path: one, since: runbookTraits, tooOld: older, doc: "take a trait from a runbook, if it has it", handle: r.removeTrait},
	}
}

func (r *runbooks) listTraits(c *call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	of, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.api.answerTraits(c, of.Traits)
}

func (r *runbooks) setTraits(c *call) error {
	traits, err := readTraits(c, "runbook")
	if err != nil {
		return err
	}
	return c.done(r.editTraits(c, func([]string) []string { return slices.Clone(traits) }))
}

func (r *runbooks) clearTraits(c *call) error {
	return c.done(r.editTraits(c, func([]string) []string { return nil }))
}

func (r *runbooks) addTrait(c *call) error {
	trait, err := readTrait(c)
	if err != nil {
		return err
	}
	if err := r.editTraits(c, func(old []string) []string { return append(old, trait) }); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/runbooks/"+c.Param("ident")+"/traits/"+trait)
	return c.empty(http.StatusNoContent)
}

// removeTrait does not mind a trait that is not there, unlike a node's.
func (r *runbooks) removeTrait(c *call) error {
	return c.done(r.editTraits(c, func(old []string) []string {
		return slices.DeleteFunc(old, func(t string) bool { return t == c.Param("trait") })
	}))
}

// editTraits keeps a runbook's traits sorted, each once.
func (r *runbooks) editTraits(c *call, change func(old []string) []string) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	_, err = r.kept.Update(c.Request().Context(), ref, func(of *node.Runbook) error {
		if err := r.permit(c, ref, of); err != nil {
			return err
		}
		of.Traits = change(of.Traits)
		slices.Sort(of.Traits)
		of.Traits = slices.Compact(of.Traits)
		return nil
	})
	return err
}
