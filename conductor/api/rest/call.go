package rest

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Route is one row of the route table.
type Route struct {
	Method, Path string
	Since        int    // microversion 1.since; below it the path does not exist
	Doc          string // one clause, for people
	Handle       func(*Call) error
	// tooOld answers a request below since; nil for the usual 404.
	TooOld error
	// known refuses who may not know of what the path names, and who may not do
	// with it what he asks; nil where that is a node or a port, or no secret.
	Known func(*Call) error
	// Forcible names what the route refuses unless the header X-Ferrite-Force says true;
	// "" for a route that does not read the header.
	Forcible string
	// wire is what goes over the wire, for the document of the API; a row
	// without is described by its method alone.
	Wire Wire
}

// Call is one request on its way through a handler.
type Call struct {
	echo.Context
	Minor int // microversion 1.minor
	// The sender, nil without authentication, and the policy's rule.
	Caller *auth.Caller
	Rule   *auth.Rule
	// Forced: the header X-Ferrite-Force says true, and the route reads it.
	Forced bool

	public string                   // Options.PublicURL
	room   *Room                    // of the answer
	grow   func(*Call, int64) error // Options.Grow
}

// BaseURL is the URL by which the client reaches us, for links, without a slash at its end.
func (c *Call) BaseURL() string {
	if c.public != "" {
		return c.public
	}
	if c.Request().TLS != nil {
		return "https://" + c.Request().Host
	}
	return "http://" + c.Request().Host
}

// Links is where what has this path under /v1 is found, as Ironic tells it.
func (c *Call) Links(path string) []nodeapi.Link {
	return []nodeapi.Link{
		{Href: c.BaseURL() + "/v1/" + path, Rel: "self"}, {Href: c.BaseURL() + "/" + path, Rel: "bookmark"},
	}
}

// RawJSON answers with bytes that are JSON already.
func (c *Call) RawJSON(status int, body []byte) error {
	return c.Bytes(status, "application/json", body)
}

// Bytes answers with bytes of a media type.
func (c *Call) Bytes(status int, media string, body []byte) error {
	if err := c.Reserve(int64(len(body))); err != nil {
		return err
	}
	c.Response().Header()["Content-Type"] = []string{media}
	c.Response().WriteHeader(status)
	_, err := c.room.Write(c.Response(), body)
	return err
}

// Reserve takes room for an answer of n bytes: as many as are expected before it is made, those that it has when it is
// given. It may wait, and answers a 503 Fault when there is none.
func (c *Call) Reserve(n int64) error { return c.room.Resize(n) }

// Empty answers without a body.
func (c *Call) Empty(status int) error { return c.NoContent(status) }

// Done answers 204 when all went well.
func (c *Call) Done(err error) error {
	if err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}

// Accepted answers 202 and says where to look for the outcome.
func (c *Call) Accepted(path string) error {
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+path)
	return c.Empty(http.StatusAccepted)
}

// Project is the one whose nodes a caller sees; "" for all.
func (c *Call) Project() string {
	if c.Caller == nil {
		return ""
	}
	return c.Caller.Project
}

// Marshal answers with any value: for small answers that are not asked often.
func (c *Call) Marshal(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.RawJSON(status, body)
}
