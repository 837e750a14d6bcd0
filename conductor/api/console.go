package api

import (
	"maps"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// consoleResource is the console of a node.
type consoleResource struct{ access }

// routes is the way to a machine's console.
func (h *consoleResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states/console", Doc: "whether the console can be used, and how",
			Handle: h.showConsole, Wire: rest.Returns(consoleForm())},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/console", Doc: "open the console, or close it",
			Handle: h.setConsole,
			Wire:   rest.Accepts(http.StatusAccepted, objectWith(rest.Schema{"enabled": truthForm()}, "enabled"))},
	}
}

func (h *consoleResource) showConsole(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	on, info, err := h.conductor.Console(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := map[string]any{"console_enabled": on, "console_info": nil}
	if url, _ := info["url"].(string); on && strings.HasPrefix(url, "/") { // of this API
		info = maps.Clone(info)
		info["url"] = "ws" + strings.TrimPrefix(c.BaseURL(), "http") + url
	}
	if on {
		answer["console_info"] = info
	}
	return c.Marshal(http.StatusOK, answer)
}

func (h *consoleResource) setConsole(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	args, err := c.Args(nodeapi.BodyLimit, "enabled")
	if err != nil {
		return err
	}
	on, err := args.NeedTruth("enabled")
	if err != nil {
		return err
	}
	if err := h.conductor.SetConsole(c.Request().Context(), n.UUID, on); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states/console")
}
