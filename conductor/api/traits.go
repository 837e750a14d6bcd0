package api

import (
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// traitResource is the traits of nodes.
type traitResource struct{ access }

// routes is the traits of nodes.
func (h *traitResource) routes() []rest.Route {
	const all, one = "/v1/nodes/:node/traits", "/v1/nodes/:node/traits/:trait"
	// Before 1.37 Ironic takes the path for one of the node itself: it has no PUT,
	// and the DELETE finds no node of that name.
	older, noPut, noDelete := rest.NotAcceptable(), nodeapi.Routing(http.StatusMethodNotAllowed, ""), rest.NoResource()
	return []rest.Route{
		{Method: http.MethodGet, Path: all, Since: 37, TooOld: older, Doc: "the traits of a node", Handle: h.listTraits,
			Wire: rest.Returns(traitsForm())},
		{Method: http.MethodPut, Path: all, Since: 37, TooOld: noPut, Doc: "replace the traits of a node",
			Handle: h.setTraits, Wire: rest.Accepts(http.StatusNoContent, traitsForm())},
		{Method: http.MethodDelete, Path: all, Since: 37, TooOld: noDelete, Doc: "take all traits from a node",
			Handle: h.clearTraits},
		{Method: http.MethodGet, Path: one, Since: 37, TooOld: older, Doc: "refused: a trait has no fields",
			Handle: writeOnly},
		{Method: http.MethodPut, Path: one, Since: 37, TooOld: noPut, Doc: "give a node one more trait", Handle: h.addTrait,
			Wire: rest.Accepts(http.StatusNoContent, nil)},
		{Method: http.MethodDelete, Path: one, Since: 37, TooOld: noDelete, Doc: "take a trait from a node",
			Handle: h.removeTrait},
	}
}

func (h *traitResource) listTraits(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return h.answerTraits(c, n.Traits)
}

func (h *access) answerTraits(c *rest.Call, traits []string) error {
	return h.Buffer(c, http.StatusOK, func(dst []byte) []byte {
		return append(rest.AppendTexts(append(dst, `{"traits":`...), traits), '}')
	})
}

func (h *traitResource) setTraits(c *rest.Call) error {
	traits, err := readTraits(c, "node")
	if err != nil {
		return err
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return c.Done(h.conductor.SetTraits(c.Request().Context(), n.UUID, traits))
}

func (h *traitResource) clearTraits(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return c.Done(h.conductor.SetTraits(c.Request().Context(), n.UUID, nil))
}

func (h *traitResource) addTrait(c *rest.Call) error {
	trait, err := readTrait(c)
	if err != nil {
		return err
	}
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := h.conductor.AddTrait(c.Request().Context(), n.UUID, trait); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+"/v1/nodes/"+c.Param("node")+"/traits/"+trait)
	return c.Empty(http.StatusNoContent)
}

func (h *traitResource) removeTrait(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	return c.Done(h.conductor.RemoveTrait(c.Request().Context(), n.UUID, c.Param("trait")))
}

// readTraits reads the body that replaces the traits of a node or a runbook.
func readTraits(c *rest.Call, kind string) ([]string, error) {
	body, err := c.Object("body")
	if err != nil {
		return nil, err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return nil, err
	}
	value, ok := body["traits"]
	if len(body) > 1 || len(body) == 1 && !ok {
		delete(body, "traits")
		return nil, rest.BadRequest("Schema error for body: %s", rest.Additional(rest.SortedKeys(body)[0]))
	}
	if !ok {
		return nil,
			rest.BadRequest("A single %[1]s trait may be added via PUT /v1/%[1]ss/<%[1]s identifier>/traits/<trait> with no "+
				"body, or all %[1]s traits may be replaced via PUT /v1/%[1]ss/<%[1]s identifier>/traits with the list of traits "+
				"specified in the request body.", kind)
	}
	list, ok := value.([]any)
	if !ok {
		return nil, rest.BadRequest("Schema error for body: %v", rest.WrongType(value, "array"))
	}
	traits := make([]string, len(list))
	for i, item := range list {
		if traits[i], err = asTrait(item); err != nil {
			return nil, rest.BadRequest("Schema error for body: %v", err)
		}
	}
	return traits, nil
}

// readTrait reads the trait in the path of a request to add it. The request must not have a body.
func readTrait(c *rest.Call) (string, error) {
	trait, err := asTrait(c.Param("trait"))
	if err != nil {
		return "", rest.BadRequest("Schema error for trait: %v", err)
	}
	if body, err := c.Object("body"); err != nil || len(body) > 0 {
		return "", rest.BadRequest("No body should be provided when adding a trait")
	}
	return trait, nil
}

// asTrait takes the name of a trait.
func asTrait(value any) (string, error) {
	s, err := someText(value)
	switch {
	case err != nil:
		return "", err
	case utf8.RuneCountInString(s) > rest.MaxText:
		return rest.ReadText(value, rest.MaxText)
	case !node.ValidTrait(s):
		return "", &rest.SchemaError{
			Text: fmt.Sprintf("'%s' is not valid under any of the given schemas. Possible root cause: '%s' does not match "+
				"'^CUSTOM_[A-Z0-9_]+$'", s, s),
		}
	}
	return s, nil
}
