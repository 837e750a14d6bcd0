package api

import (
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

// adapt makes a handler of a row: it asks who it is, negotiates the microversion,
// which paths outside /v1 do not have, and turns away who may not.
func (a *API) adapt(r route) echo.HandlerFunc {
	rule := a.rules.Of(r.method, r.path, "")
	handle := func(c *call) error {
		if err := c.checkURL(); err != nil {
			return err
		}
		if err := a.authorize(c, r.known); err != nil {
			return err
		}
		return r.handle(c)
	}
	versioned := len(r.path) >= 3 && r.path[:3] == nodeapi.Root
	return func(ec echo.Context) error {
		c := &call{Context: ec, minor: nodeapi.MaxMinor, rule: rule}
		if err := a.identify(c); err != nil {
			return err
		}
		if !versioned {
			return handle(c)
		}
		minor, err := nodeapi.Begin(ec.Response(), ec.Request())
		if err != nil {
			return err
		}
		c.minor = minor
		if minor < r.since {
			if r.tooOld != nil {
				return r.tooOld
			}
			return noResource()
		}
		return handle(c)
	}
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

// buffer lends a buffer to f and answers with what f made of it.
func (a *API) buffer(c *call, status int, f func(dst []byte) []byte) error {
	b, _ := a.buffers.Get().(*[]byte)
	*b = f((*b)[:0])
	if cap(*b) <= 4<<20 { // do not keep what one huge list needed
		defer a.buffers.Put(b)
	}
	end, err := a.answers.hold(c.Request(), int64(len(*b)))
	if err != nil {
		return err
	}
	defer end()
	return c.json(status, *b)
}
