package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// vendorRoutes is what drivers can do that has no resource of its own. A method
// is named in the path or in the query; its arguments are the body.
func (a *API) vendorRoutes() []route {
	const ofNode, ofDriver = "/v1/nodes/:node/vendor_passthru", "/v1/drivers/:driver/vendor_passthru"
	all := []route{
		{method: http.MethodGet, path: ofNode + "/methods", doc: "the node's vendor methods", handle: a.listVendorMethods, wire: gives(vendorMethodsForm())},
		{method: http.MethodGet, path: ofDriver + "/methods", doc: "the driver's vendor methods", handle: a.listDriverMethods, wire: gives(vendorMethodsForm())},
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, name := range []string{"", "/:method"} {
			result := wire{gives: schema{}} // each method has forms of its own
			if name == "" {
				result.query = argumentsNamed([]string{"method"})
			}
			all = append(all,
				route{method: method, path: ofNode + name, doc: "call a vendor method of the node", handle: a.callVendor, wire: result},
				route{method: method, path: ofDriver + name, doc: "call a vendor method of the driver", handle: a.callDriver, wire: result})
		}
	}
	return all
}

func (a *API) listVendorMethods(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	methods, err := a.conductor.VendorMethods(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := make(map[string]any, len(methods))
	for _, m := range methods {
		answer[m.Name] = vendorMethod(m)
	}
	return c.marshal(http.StatusOK, answer)
}

// vendorMethod is a method as Ironic describes it. attach says whether the
// result is a file, which none is.
func vendorMethod(m node.VendorMethod) map[string]any {
	return map[string]any{
		"http_methods": m.HTTPMethods, "async": m.Async, "description": m.Description,
		"attach": false, "require_exclusive_lock": !m.Shared,
	}
}

// vendorCall reads which method is called, and with what.
func vendorCall(c *call) (method string, args map[string]any, err error) {
	body, present, err := c.body(nodeapi.BodyLimit)
	if err != nil {
		return "", nil, err
	}
	args, ok := body.(map[string]any)
	if present && body != nil && !ok {
		return "", nil, badRequest("Invalid JSON in the request body: expected an object, found %s", python(body))
	}
	known := []string{"method"}
	if method = c.Param("method"); method != "" {
		known = nil
	}
	q := c.QueryParams()
	if err := unexpected(sortedKeys(q), known); err != nil {
		return "", nil, err
	}
	if method == "" {
		method = q.Get("method")
	}
	if method == "" {
		return "", nil, badRequest("Missing mandatory parameter: method")
	}
	return method, args, nil
}

func (a *API) callVendor(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	method, args, err := vendorCall(c)
	if err != nil {
		return err
	}
	result, async, err := a.conductor.CallVendor(c.Request().Context(), n.UUID, c.Request().Method, method, args)
	switch {
	case err != nil:
		return err
	case async:
		return c.empty(http.StatusAccepted)
	}
	return c.marshal(http.StatusOK, result)
}

// listDriverMethods: none of our drivers has a method that is about no node.
func (a *API) listDriverMethods(c *call) error {
	if _, err := a.hardwareType(c); err != nil {
		return err
	}
	return c.marshal(http.StatusOK, struct{}{})
}

func (a *API) callDriver(c *call) error {
	if _, err := a.hardwareType(c); err != nil {
		return err
	}
	method, _, err := vendorCall(c)
	if err != nil {
		return err
	}
	return badRequest("No handler for method %s", method)
}
