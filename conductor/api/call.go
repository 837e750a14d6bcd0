package api

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// route is one row of the route table.
type route struct {
	method, path string
	since        int    // microversion 1.since; below it the path does not exist
	doc          string // one clause, for people
	handle       func(*call) error
	// tooOld answers a request below since; nil for the usual 404.
	tooOld error
	// known refuses who may not know of what the path names, and who may not do
	// with it what he asks; nil where that is a node or a port, or no secret.
	known func(*call) error
	// wire is what goes over the wire, for the document of the API; a row
	// without is described by its method alone.
	wire wire
}

// call is one request on its way through a handler.
type call struct {
	echo.Context
	minor int // microversion 1.minor
	// Who sends it, nil when nobody is asked, and what the policy says of it.
	caller *auth.Caller
	rule   *auth.Rule
}

// base is the URL the client reached us by, for links.
func (c *call) base() string {
	if c.Request().TLS != nil {
		return "https://" + c.Request().Host
	}
	return "http://" + c.Request().Host
}

// links is where what has this path under /v1 is found, as Ironic tells it.
func (c *call) links(path string) []nodeapi.Link {
	return []nodeapi.Link{{Href: c.base() + "/v1/" + path, Rel: "self"}, {Href: c.base() + "/" + path, Rel: "bookmark"}}
}

// json answers with bytes that are JSON already.
func (c *call) json(status int, body []byte) error {
	header := c.Response().Header()
	header["Content-Type"] = []string{"application/json"}
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}

// empty answers without a body.
func (c *call) empty(status int) error { return c.NoContent(status) }

// done answers 204 when all went well.
func (c *call) done(err error) error {
	if err != nil {
		return err
	}
	return c.empty(http.StatusNoContent)
}

// accepted answers 202 and says where to look for the outcome.
func (c *call) accepted(path string) error {
	c.Response().Header().Set(echo.HeaderLocation, c.base()+path)
	return c.empty(http.StatusAccepted)
}

// project is the one whose nodes a caller sees; "" for all.
func (c *call) project() string {
	if c.caller == nil {
		return ""
	}
	return c.caller.Project
}

// marshal answers with any value: for small answers that are not asked often.
func (c *call) marshal(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.json(status, body)
}
