package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// consoleRoutes is the way to a machine's console.
func (a *API) consoleRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/nodes/:node/states/console", doc: "whether the console can be used, and how", handle: a.showConsole, wire: gives(consoleForm())},
		{method: http.MethodPut, path: "/v1/nodes/:node/states/console", doc: "open the console, or close it", handle: a.setConsole,
			wire: takes(http.StatusAccepted, objectWith(schema{"enabled": truthForm()}, "enabled"))},
	}
}

func (a *API) showConsole(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	on, info, err := a.conductor.Console(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := map[string]any{"console_enabled": on, "console_info": nil}
	if on {
		answer["console_info"] = info
	}
	return c.marshal(http.StatusOK, answer)
}

func (a *API) setConsole(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "enabled")
	if err != nil {
		return err
	}
	on, err := args.needTruth("enabled")
	if err != nil {
		return err
	}
	if err := a.conductor.SetConsole(c.Request().Context(), n.UUID, on); err != nil {
		return err
	}
	return c.accepted("/v1/nodes/" + c.Param("node") + "/states/console")
}
