package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// vendorResource is the vendor methods of nodes and drivers.
type vendorResource struct{ access }

// routes calls vendor methods: features of drivers without a resource of their own. The path or the query names the
// method; its arguments are the body.
func (h *vendorResource) routes() []rest.Route {
	const ofNode, ofDriver = "/v1/nodes/:node/vendor_passthru", "/v1/drivers/:driver/vendor_passthru"
	all := []rest.Route{
		{Method: http.MethodGet, Path: ofNode + "/methods", Doc: "the node's vendor methods", Handle: h.listVendorMethods,
			Wire: rest.Returns(vendorMethodsForm())},
		{Method: http.MethodGet, Path: ofDriver + "/methods", Doc: "the driver's vendor methods", Handle: h.listDriverMethods,
			Wire: rest.Returns(vendorMethodsForm())},
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		for _, name := range []string{"", "/:method"} {
			result := rest.Wire{Gives: rest.Schema{}} // each method has forms of its own
			if name == "" {
				result.Query = rest.ArgumentsNamed([]string{"method"})
			}
			all = append(all,
				rest.Route{Method: method, Path: ofNode + name, Doc: "call a vendor method of the node", Handle: h.callVendor,
					Wire: result},
				rest.Route{Method: method, Path: ofDriver + name, Doc: "call a vendor method of the driver", Handle: h.callDriver,
					Wire: result})
		}
	}
	return all
}

func (h *vendorResource) listVendorMethods(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	methods, err := h.conductor.VendorMethods(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := make(map[string]any, len(methods))
	for _, m := range methods {
		answer[m.Name] = vendorMethod(m)
	}
	return c.Marshal(http.StatusOK, answer)
}

// vendorMethod is a method in Ironic's form. attach means that the result is a file, which none is.
func vendorMethod(m node.VendorMethod) map[string]any {
	return map[string]any{
		"http_methods": m.HTTPMethods, "async": m.Async, "description": m.Description,
		"attach": false, "require_exclusive_lock": !m.Shared,
	}
}

// vendorCall reads the name and the arguments of a vendor method.
func vendorCall(c *rest.Call) (method string, args map[string]any, err error) {
	body, present, err := c.Body(nodeapi.BodyLimit)
	if err != nil {
		return "", nil, err
	}
	args, ok := body.(map[string]any)
	if present && body != nil && !ok {
		return "", nil, rest.BadRequest("Invalid JSON in the request body: expected an object, found %s", rest.Python(body))
	}
	known := []string{"method"}
	if method = c.Param("method"); method != "" {
		known = nil
	}
	q := c.QueryParams()
	if err := rest.Unexpected(rest.SortedKeys(q), known); err != nil {
		return "", nil, err
	}
	if method == "" {
		method = q.Get("method")
	}
	if method == "" {
		return "", nil, rest.BadRequest("Missing mandatory parameter: method")
	}
	return method, args, nil
}

func (h *vendorResource) callVendor(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	method, args, err := vendorCall(c)
	if err != nil {
		return err
	}
	result, async, err := h.conductor.CallVendor(c.Request().Context(), n.UUID, c.Request().Method, method, args)
	switch {
	case err != nil:
		return err
	case async:
		return c.Empty(http.StatusAccepted)
	}
	return c.Marshal(http.StatusOK, result)
}

// listDriverMethods answers with no methods: all methods of our drivers are about a node.
func (h *vendorResource) listDriverMethods(c *rest.Call) error {
	if _, err := hardwareType(c, h.conductor.HardwareTypes()); err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, struct{}{})
}

func (h *vendorResource) callDriver(c *rest.Call) error {
	if _, err := hardwareType(c, h.conductor.HardwareTypes()); err != nil {
		return err
	}
	method, _, err := vendorCall(c)
	if err != nil {
		return err
	}
	return rest.BadRequest("No handler for method %s", method)
}
