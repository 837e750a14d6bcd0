package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// managementRoutes is what a BMC is asked through, and whether it can be.
func (a *API) managementRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/nodes/:node/management/boot_device", doc: "what the machine will boot from", handle: a.showBootDevice, wire: gives(bootDeviceForm())},
		{method: http.MethodPut, path: "/v1/nodes/:node/management/boot_device", doc: "say what to boot from", handle: a.setBootDevice, wire: takes(http.StatusNoContent, bootDeviceForm())},
		{method: http.MethodGet, path: "/v1/nodes/:node/management/boot_device/supported", doc: "what can be booted from", handle: a.supportedBootDevices, wire: gives(structure("supported_boot_devices", []string{}))},
		{method: http.MethodPut, path: "/v1/nodes/:node/management/inject_nmi", since: 29, doc: "interrupt the machine, so that its system writes a dump", handle: a.injectNMI, wire: takes(http.StatusNoContent, objectForm())},
		{method: http.MethodGet, path: "/v1/nodes/:node/validate", doc: "what is missing, by interface", handle: a.validate, wire: gives(formOf(map[string]nodeapi.Valid{}))},
		{method: http.MethodGet, path: "/v1/nodes/validate", doc: "the same, the node in the query", handle: a.validateQuery, wire: gives(formOf(map[string]nodeapi.Valid{}), "node", "node_uuid")},
	}
}

func (a *API) showBootDevice(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	device, persistent, err := a.conductor.BootDevice(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := map[string]any{"boot_device": nullable(device), "persistent": persistent}
	if device == "" {
		answer["persistent"] = nil // nothing is known to last
	}
	return c.marshal(http.StatusOK, answer)
}

// bootDevices are the names Ironic has for what a machine can boot from.
func bootDevices() []string {
	return []string{"pxe", "disk", "cdrom", "bios", "safe", "wanboot", "iscsiboot", "floppy", "uefihttp"}
}

func (a *API) setBootDevice(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.BodyLimit, "boot_device", "persistent")
	if err != nil {
		return err
	}
	device, err := args.need("boot_device")
	if err != nil {
		return err
	}
	persistent, err := args.truth("persistent")
	if err != nil {
		return err
	}
	supported, err := a.conductor.SupportedBootDevices(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	if !slices.Contains(bootDevices(), device) || !slices.Contains(supported, device) {
		return badRequest("Invalid boot device %s specified.", device)
	}
	if err := a.conductor.SetBootDevice(c.Request().Context(), n.UUID, device, persistent); err != nil {
		return err
	}
	return c.empty(http.StatusNoContent)
}

func (a *API) supportedBootDevices(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	devices, err := a.conductor.SupportedBootDevices(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	return c.marshal(http.StatusOK, map[string][]string{"supported_boot_devices": append([]string{}, devices...)})
}

func (a *API) injectNMI(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if _, err := c.args(nodeapi.BodyLimit); err != nil {
		return err
	}
	return c.done(a.conductor.InjectNMI(c.Request().Context(), n.UUID))
}

func (a *API) validate(c *call) error { return a.answerValidation(c) }

func (a *API) validateQuery(c *call) error {
	ref := c.QueryParam("node")
	if ref == "" {
		ref = c.QueryParam("node_uuid")
	}
	if ref == "" {
		return badRequest("Missing mandatory parameter: node")
	}
	c.SetParamNames("node")
	c.SetParamValues(ref)
	return a.answerValidation(c)
}

func (a *API) answerValidation(c *call) error {
	if c.minor < 5 && !validUUID(c.Param("node")) {
		return notAcceptable() // unlike elsewhere a name is not a 404 here
	}
	n, err := a.node(c)
	if err != nil {
		return err
	}
	verdicts, err := a.conductor.Validate(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	answer := make(map[string]nodeapi.Valid, len(verdicts))
	for kind, reason := range verdicts {
		if kind != "vendor" && interfaceSince(kind) <= max(c.minor, 30) {
			answer[kind] = verdict(&n, kind, reason)
		}
	}
	return c.marshal(http.StatusOK, answer)
}

// verdict is what is said of one interface. One that is switched off is not
// valid, though nothing is wrong with it.
func verdict(n *node.Node, kind string, reason error) nodeapi.Valid {
	if reason == nil && n.Off(kind) {
		reason = fmt.Errorf("Driver %s does not support %s (disabled or not implemented).", n.Driver, kind) //nolint:staticcheck // Ironic's words
	}
	ok := reason == nil
	v := nodeapi.Valid{Result: &ok}
	if !ok {
		v.Reason = nodeapi.MaskText(reason.Error())
	}
	return v
}
