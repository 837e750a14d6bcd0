package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// routes is the traits of runbooks: nodes that have one of them may be
// cleaned and serviced with it.
func (r *runbooks) traitRoutes() []rest.Route {
	const all, one = "/v1/runbooks/:ident/traits", "/v1/runbooks/:ident/traits/:trait"
	older := nodeapi.Routing(http.StatusNotFound, "The API version does not allow runbook traits")
	return []rest.Route{
		{Method: http.MethodGet, Path: all, Since: runbookTraits, TooOld: older, Doc: "the traits of a runbook",
			Handle: r.listTraits, Wire: rest.Returns(traitsForm())},
		{Method: http.MethodPut, Path: all, Since: runbookTraits, TooOld: older, Doc: "replace the traits of a runbook",
			Handle: r.setTraits, Wire: rest.Accepts(http.StatusNoContent, traitsForm())},
		{Method: http.MethodDelete, Path: all, Since: runbookTraits, TooOld: older, Doc: "take all traits from a runbook",
			Handle: r.clearTraits},
		{Method: http.MethodGet, Path: one, Since: runbookTraits, TooOld: older, Doc: "refused: a trait has no fields",
			Handle: writeOnly},
		{Method: http.MethodPut, Path: one, Since: runbookTraits, TooOld: older, Doc: "give a runbook one more trait",
			Handle: r.addTrait, Wire: rest.Accepts(http.StatusNoContent, nil)},
		{Method: http.MethodDelete, Path: one, Since: runbookTraits, TooOld: older,
			Doc: "take a trait from a runbook, if it has it", Handle: r.removeTrait},
	}
}

func (r *runbooks) listTraits(c *rest.Call) error {
	ref, err := r.ref(c)
	if err != nil {
		return err
	}
	of, err := r.find(c, ref)
	if err != nil {
		return err
	}
	return r.access.answerTraits(c, of.Traits)
}

func (r *runbooks) setTraits(c *rest.Call) error {
	traits, err := readTraits(c, "runbook")
	if err != nil {
		return err
	}
	return c.Done(r.editTraits(c, func([]string) []string { return slices.Clone(traits) }))
}

func (r *runbooks) clearTraits(c *rest.Call) error {
	return c.Done(r.editTraits(c, func([]string) []string { return nil }))
}

func (r *runbooks) addTrait(c *rest.Call) error {
	trait, err := readTrait(c)
	if err != nil {
		return err
	}
	if err := r.editTraits(c, func(old []string) []string { return append(old, trait) }); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/runbooks/"+c.Param("ident")+"/traits/"+trait)
	return c.Empty(http.StatusNoContent)
}

// removeTrait does not mind a trait that is not there, unlike a node's.
func (r *runbooks) removeTrait(c *rest.Call) error {
	return c.Done(r.editTraits(c, func(old []string) []string {
		return slices.DeleteFunc(old, func(t string) bool { return t == c.Param("trait") })
	}))
}

// editTraits keeps a runbook's traits sorted, each once.
func (r *runbooks) editTraits(c *rest.Call, change func(old []string) []string) error {
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
