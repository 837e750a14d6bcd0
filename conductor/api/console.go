package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// consoleRoutes is the way to a machine's console.
func (a *API) consoleRoutes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/states/console", Doc: "whether the console can be used, and how", Handle: a.showConsole, Wire: rest.Returns(consoleForm())},
		{Method: http.MethodPut, Path: "/v1/nodes/:node/states/console", Doc: "open the console, or close it", Handle: a.setConsole,
			Wire: rest.Accepts(http.StatusAccepted, objectWith(rest.Schema{"enabled": truthForm()}, "enabled"))},
	}
}

func (a *API) showConsole(c *rest.Call) error {
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
	return c.Marshal(http.StatusOK, answer)
}

func (a *API) setConsole(c *rest.Call) error {
	n, err := a.node(c)
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
	if err := a.conductor.SetConsole(c.Request().Context(), n.UUID, on); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states/console")
}
