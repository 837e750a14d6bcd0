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
	// TooOld answers a request below Since; nil for the usual 404.
	TooOld error
	// Known refuses a caller that may not know of the record in the path, or may not do this to it. It is nil where the
	// record is a node or a port (Options.Known checks those), or is no secret.
	Known func(*Call) error
	// Forcible names the action that the route refuses without the header X-Ferrite-Force: true. It is "" for a route
	// that does not read the header.
	Forcible string
	// Wire describes the bodies and the query, for the OpenAPI document. Without it the document has only the method.
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
	memory *Memory                  // of the answer
	grow   func(*Call, int64) error // Options.Grow
	body   []byte                   // once it is read; a handler that is called again has it from here
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

// Links are the URLs of a resource with this path under /v1, in Ironic's form.
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
	_, err := c.memory.Write(c.Response(), body)
	return err
}

// Reserve takes room in memory for an answer of n bytes. Callers pass an estimate before they render the answer, and
// its size before they send it. Reserve may wait, and answers a 503 Fault when there is no room.
func (c *Call) Reserve(n int64) error { return c.memory.Resize(n) }

// Empty answers without a body.
func (c *Call) Empty(status int) error { return c.NoContent(status) }

// Done answers 204 when all went well.
func (c *Call) Done(err error) error {
	if err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}

// Accepted answers 202, with the path of the outcome in Location.
func (c *Call) Accepted(path string) error {
	c.Response().Header().Set(echo.HeaderLocation, c.BaseURL()+path)
	return c.Empty(http.StatusAccepted)
}

// Project limits the caller to nodes of this project; "" is no limit.
func (c *Call) Project() string {
	if c.Caller == nil {
		return ""
	}
	return c.Caller.Project
}

// Marshal answers with any value, by reflection: for small answers to rare requests.
func (c *Call) Marshal(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.RawJSON(status, body)
}
