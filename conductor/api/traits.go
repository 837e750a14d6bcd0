package api

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// traitRoutes is the traits of nodes.
func (a *API) traitRoutes() []route {
	const all, one = "/v1/nodes/:node/traits", "/v1/nodes/:node/traits/:trait"
	// Before 1.37 Ironic takes the path for one of the node itself: it has no PUT,
	// and the DELETE finds no node of that name.
	older, noPut, noDelete := notAcceptable(), nodeapi.Routing(http.StatusMethodNotAllowed, ""), noResource()
	return []route{
		{method: http.MethodGet, path: all, since: 37, tooOld: older, doc: "the traits of a node", handle: a.listTraits, wire: gives(traitsForm())},
		{method: http.MethodPut, path: all, since: 37, tooOld: noPut, doc: "replace the traits of a node", handle: a.setTraits, wire: takes(http.StatusNoContent, traitsForm())},
		{method: http.MethodDelete, path: all, since: 37, tooOld: noDelete, doc: "take all traits from a node", handle: a.clearTraits},
		{method: http.MethodGet, path: one, since: 37, tooOld: older, doc: "refused: a trait has no fields", handle: writeOnly},
		{method: http.MethodPut, path: one, since: 37, tooOld: noPut, doc: "give a node one more trait", handle: a.addTrait, wire: takes(http.StatusNoContent, nil)},
		{method: http.MethodDelete, path: one, since: 37, tooOld: noDelete, doc: "take a trait from a node", handle: a.removeTrait},
	}
}

func (a *API) listTraits(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return a.answerTraits(c, n.Traits)
}

func (a *API) answerTraits(c *call, traits []string) error {
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return append(appendTexts(append(dst, `{"traits":`...), traits), '}')
	})
}

func (a *API) setTraits(c *call) error {
	traits, err := readTraits(c, "node")
	if err != nil {
		return err
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return c.done(a.conductor.SetTraits(c.Request().Context(), n.UUID, traits))
}

func (a *API) clearTraits(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return c.done(a.conductor.SetTraits(c.Request().Context(), n.UUID, nil))
}

func (a *API) addTrait(c *call) error {
	trait, err := readTrait(c)
	if err != nil {
		return err
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := a.conductor.AddTrait(c.Request().Context(), n.UUID, trait); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.base()+"/v1/nodes/"+c.Param("node")+"/traits/"+trait)
	return c.empty(http.StatusNoContent)
}

func (a *API) removeTrait(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	return c.done(a.conductor.RemoveTrait(c.Request().Context(), n.UUID, c.Param("trait")))
}

// readTraits reads the body that replaces the traits of a node or a runbook.
func readTraits(c *call, kind string) ([]string, error) {
	body, err := c.object("body")
	if err != nil {
		return nil, err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), nil); err != nil {
		return nil, err
	}
	value, ok := body["traits"]
	if len(body) > 1 || len(body) == 1 && !ok {
		delete(body, "traits")
		return nil, badRequest("Schema error for body: %s", additional(sortedKeys(body)[0]))
	}
	if !ok {
		return nil, badRequest("A single %[1]s trait may be added via PUT /v1/%[1]ss/<%[1]s identifier>/traits/<trait> with no body, or all %[1]s traits may be replaced via PUT /v1/%[1]ss/<%[1]s identifier>/traits with the list of traits specified in the request body.", kind)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, badRequest("Schema error for body: %v", wrongType(value, "array"))
	}
	traits := make([]string, len(list))
	for i, item := range list {
		if traits[i], err = asTrait(item); err != nil {
			return nil, badRequest("Schema error for body: %v", err)
		}
	}
	return traits, nil
}

// readTrait is the one in the path that is to be added; a body has no place then.
func readTrait(c *call) (string, error) {
	trait, err := asTrait(c.Param("trait"))
	if err != nil {
		return "", badRequest("Schema error for trait: %v", err)
	}
	if body, err := c.object("body"); err != nil || len(body) > 0 {
		return "", badRequest("No body should be provided when adding a trait")
	}
	return trait, nil
}

// asTrait takes the name of a trait.
func asTrait(value any) (string, error) {
	s, err := someText(value)
	switch {
	case err != nil:
		return "", err
	case utf8.RuneCountInString(s) > maxText:
		return asText(value, maxText)
	case !node.ValidTrait(s):
		return "", &schemaError{fmt.Sprintf("'%s' is not valid under any of the given schemas. Possible root cause: '%s' does not match '^CUSTOM_[A-Z0-9_]+$'", s, s)}
	}
	return s, nil
}
